// Maps an upstream's refusal to the error table. The text is the upstream's own, cleaned later.
import type { HttpAnswer } from '../../contract/http.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { withoutIds } from './cloud-ids.ts'
import { CredentialError } from './credential-error.ts'
import { codeOfReason, isOverload, requestReason } from './failure-reason.ts'
import { retryDelay, writtenDelay } from './retry-delay.ts'

/** Words that upstreams use for a content refusal. */
const contentPolicy =
  /content_policy|content_filter|data_?inspection|inappropriate content|invalid_prompt|PROHIBITED_CONTENT/i
/** The same beside a status that usually blames the key. */
const moderated = /\bmoderation\b|\bflagged\b/i
/** Words that they use when this account may not use this model. */
const notEntitled =
  /model[_ .-]?(?:not[_ ]?(?:found|open|exist|support)|access[_ ]?denied)|unpurchased|InvalidEndpointOrModel|models?\b.{0,80}\b(?:does not exist|not exist|not found|no access|not have access|not entitled|not activated)|(?:access to|entitled to|authorized to use|permission to use)\b.{0,40}\bmodel/i
/** Words that they use when a request names an object that they do not have, or no longer. */
const notKept =
  /previous_response_not_found|\b(?:previous response|response|item|conversation|file|container) (?:with )?(?:id )?['"`]?[\w.:-]+['"`]? (?:was )?(?:not found|does not exist)/i
/** Words that they use for a key that is wrong, where the status blames the request. */
/** Of a server that does not have such a path, as opposed to such a model; many say nothing in JSON. */
const unknownPath =
  /^\W*(?:not found)?\W*$|\b(?:unknown|invalid|no such) (?:url|path|route|endpoint)\b/i
const badKey = /API_KEY_INVALID|\bapi key (?:not valid|not found|expired|is invalid)/i
/** Words that they use when this account is out of credit. */
const noQuota =
  /insufficient_quota|insufficient balance|credit balance is too low|arrearage|billing_error|overdue/i

/** What is read of an answer besides its body. */
export type AnswerHead = Pick<HttpAnswer, 'status' | 'header'>
/** The headers that are. */
export const readHeaders = ['x-request-id', 'request-id', 'retry-after', 'retry-after-ms'] as const

export const upstreamRequestId = (answer: AnswerHead): string | undefined =>
  answer.header('x-request-id') ?? answer.header('request-id')

export function readError(answer: AnswerHead, text: string): UpstreamError {
  const { status } = answer
  const { message, code, requestId, error } = bodyOf(text)
  const retryAfterSeconds = retryDelay(answer, message, error)
  const id = upstreamRequestId(answer) ?? requestId
  const words = `${code} ${message}`
  const about = blamed(status, words)
  return {
    code: status === 200 ? codeInside(words, code) : codeFor(status, words),
    message: message || statusMessage(status, about),
    httpStatus: status,
    ...(about !== undefined && { about }),
    ...(id !== undefined && { upstreamRequestId: id }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

const statusMessage = (status: number, about: UpstreamError['about']): string =>
  about === 'path'
    ? `the upstream has nothing at this path (status ${status})`
    : `the upstream answered with status ${status}`

/** The same for text calls, with what tools of their callers act on. */
export function readTextError(answer: AnswerHead, text: string): UpstreamError {
  const { message, code, error } = bodyOf(text)
  return withReason(readError(answer, text), `${code} ${message}`, error)
}

/** An error object inside an answer or a stream that began successfully. */
export function readErrorEvent(given: unknown, requestId: string | undefined): UpstreamError {
  const { message, code, error } = bodyOf(JSON.stringify({ error: given }))
  const words = `${code} ${message}`
  const wait = writtenDelay(message, error['details'])
  const read: UpstreamError = {
    code: codeInside(words, code),
    message: message || 'the upstream reported an error in its stream',
    ...(wait !== undefined && { retryAfterSeconds: wait }),
    ...(requestId !== undefined && { upstreamRequestId: requestId }),
  }
  return withReason(read, words, error)
}

/** Statuses that blame the request, or nothing yet. */
const requestStatuses: readonly number[] = [200, 400, 413, 422]

function withReason(read: UpstreamError, words: string, error: object): UpstreamError {
  const { httpStatus = 200, about, code } = read
  if ((httpStatus === 429 || httpStatus === 200) && noQuota.test(words)) {
    return { ...read, code: 'upstream_permission_denied', about: 'key' }
  }
  if (isOverloaded(httpStatus, words)) return overloadedAs(read)
  if (about !== undefined || (code !== 'upstream_error' && code !== 'upstream_invalid_request'))
    return read
  const isRequest = requestStatuses.includes(httpStatus)
  const reason = isRequest ? requestReason(words, error) : undefined
  return reason === undefined ? read : { ...read, code: codeOfReason(reason) ?? code, reason }
}

const isOverloaded = (status: number, words: string): boolean =>
  (status === 200 || status === 429 || status >= 500) && isOverload(status, words)

/** It has too much to do: nothing that its keys, or the caller's own limits, are to blame for. */
function overloadedAs({ about: _, ...read }: UpstreamError): UpstreamError {
  return { ...read, code: 'overloaded', reason: { kind: 'overloaded' } }
}

/** For an error that the status does not explain. */
function codeInside(words: string, code: string): UpstreamError['code'] {
  if (contentPolicy.test(words)) return 'content_policy_violation'
  return /rate_limit|RESOURCE_EXHAUSTED/i.test(code) ? 'upstream_rate_limited' : 'upstream_error'
}

function codeFor(status: number, words: string): UpstreamError['code'] {
  if (status === 404 && notKept.test(words)) return 'upstream_invalid_request'
  if (status === 400 || status === 413 || status === 422) {
    if (contentPolicy.test(words)) return 'content_policy_violation'
    return blamed(status, words) === undefined
      ? 'upstream_invalid_request'
      : 'upstream_permission_denied'
  }
  if (isModerated(status, words)) return 'content_policy_violation'
  if (blamed(status, words) === 'path') return 'upstream_error'
  if (status >= 401 && status <= 404) return 'upstream_permission_denied'
  if (status === 429) return 'upstream_rate_limited'
  if (status === 408 || status === 504) return 'upstream_timeout'
  // Whatever else is wrong with a request: its media type, its headers, its target.
  return status >= 400 && status < 500 && status !== 425
    ? 'upstream_invalid_request'
    : 'upstream_error'
}

/** One upstream refuses what its moderation finds with 403. */
const isModerated = (status: number, words: string): boolean =>
  status === 403 && (contentPolicy.test(words) || moderated.test(words))

/** What was refused, if neither the request nor the upstream as a whole. */
function blamed(status: number, words: string): UpstreamError['about'] {
  if (status === 401 || status === 402) return 'key'
  if (status === 404 && notKept.test(words)) return undefined
  if (status === 405 || (status === 404 && unknownPath.test(words))) return 'path'
  if (isModerated(status, words)) return undefined
  if (status === 403 || status === 404) return notEntitled.test(words) ? 'model' : 'key'
  if (status === 429) return 'key'
  return status === 400 && (noQuota.test(words) || badKey.test(words)) ? 'key' : undefined
}

/** A client error without a response; its own text stays in our log. */
export function notAnswered(error: unknown): UpstreamError {
  const kind = (error as { kind?: string }).kind
  if (kind === 'invalid') {
    const message = 'the upstream answered with something that is not HTTP'
    return failure('upstream_invalid_response', message, undefined, error)
  }
  if (error instanceof CredentialError) {
    return failure('upstream_unreachable', error.message, undefined, error)
  }
  const why = kind === 'tls' ? 'its certificate cannot be trusted' : 'no connection'
  const message = `the upstream could not be reached: ${why}`
  // Cancelled by a time-out, or by the caller, while waiting for the response.
  const begun = kind === 'broken' || kind === 'cancelled'
  const shown = kind === 'broken' ? 'the upstream closed the connection' : message
  return { ...failure('upstream_unreachable', shown, undefined, error), ...(begun && { begun }) }
}

export function failure(
  code: UpstreamError['code'],
  message: string,
  requestId?: string,
  cause?: unknown,
): UpstreamError {
  return {
    code,
    message,
    ...(cause !== undefined && { cause }),
    ...(requestId !== undefined && { upstreamRequestId: requestId }),
  }
}

interface ErrorBody {
  message: string
  code: string
  requestId: string | undefined
  /** The object that has them. */
  error: Readonly<Record<string, unknown>>
}

function bodyOf(text: string): ErrorBody {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // An HTML page or plain text is of no use to a caller.
    return { message: '', code: '', requestId: undefined, error: {} }
  }
  // A stream that was refused may be a list with one error in it.
  const first: unknown = Array.isArray(body) ? body[0] : body
  const outer = isObject(first) ? first : {}
  const error = isObject(outer['error']) ? outer['error'] : outer
  const text_ = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    message: withoutIds(
      text_(error['message']) || text_(outer['error']) || text_(outer['message']),
    ),
    code: [error['code'], error['type'], error['status'], ...reasonsIn(error['details'])]
      .map(text_)
      .join(' '),
    requestId: text_(outer['request_id']) || text_(error['request_id']) || undefined,
    error,
  }
}

/** `details: [{reason: 'API_KEY_INVALID'}]` */
const reasonsIn = (details: unknown): unknown[] =>
  Array.isArray(details)
    ? details.map((each: unknown) => (isObject(each) ? each['reason'] : undefined))
    : []
