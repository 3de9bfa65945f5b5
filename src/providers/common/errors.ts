// Maps an upstream's refusal to the error table. The text is the upstream's own, cleaned later.
import type { HttpAnswer, UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'

/** Words that upstreams use for a content refusal. */
const contentPolicy = /content_policy|content_filter|data_inspection|inappropriate content/i
/** Words that they use when this account may not use this model. */
const notEntitled =
  /model[_ .-]?(?:not[_ ]?(?:found|open|exist|support)|access[_ ]?denied)|unpurchased|InvalidEndpointOrModel|models?\b.{0,80}\b(?:does not exist|not exist|not found|no access|not have access|not entitled|not activated)|(?:access to|entitled to|authorized to use|permission to use)\b.{0,40}\bmodel/i
/** Words that they use when a request names an object that they do not have, or no longer. */
const notKept =
  /previous_response_not_found|\b(?:previous response|response|item|conversation|file|container) (?:with )?(?:id )?['"`]?[\w.:-]+['"`]? (?:was )?(?:not found|does not exist)/i
/** Words that they use for a key that is wrong, where the status blames the request. */
const badKey = /API_KEY_INVALID|\bapi key (?:not valid|not found|expired|is invalid)/i
/** Words that they use when this account is out of credit. */
const noQuota = /insufficient_quota|insufficient balance|arrearage|billing_error|overdue/i

export const upstreamRequestId = (answer: HttpAnswer): string | undefined =>
  answer.header('x-request-id') ?? answer.header('request-id')

export function readError(answer: HttpAnswer, text: string): UpstreamError {
  const { status } = answer
  const { message, code, requestId } = bodyOf(text)
  const retryAfterSeconds = retryAfter(answer.header('retry-after'))
  const id = upstreamRequestId(answer) ?? requestId
  const words = `${code} ${message}`
  const about = blamed(status, words)
  return {
    code: status === 200 ? codeInside(words, code) : codeFor(status, words),
    message: message || `the upstream answered with status ${status}`,
    httpStatus: status,
    ...(about !== undefined && { about }),
    ...(id !== undefined && { upstreamRequestId: id }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

/** An error object inside an answer or a stream that began successfully. */
export function readErrorEvent(error: unknown, requestId: string | undefined): UpstreamError {
  const { message, code } = bodyOf(JSON.stringify({ error }))
  return {
    code: codeInside(`${code} ${message}`, code),
    message: message || 'the upstream reported an error in its stream',
    ...(requestId !== undefined && { upstreamRequestId: requestId }),
  }
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
  if (status >= 401 && status <= 404) return 'upstream_permission_denied'
  if (status === 429) return 'upstream_rate_limited'
  if (status === 408 || status === 504) return 'upstream_timeout'
  return 'upstream_error'
}

/** What was refused, if neither the request nor the upstream as a whole. */
function blamed(status: number, words: string): UpstreamError['about'] {
  if (status === 401 || status === 402) return 'key'
  if (status === 404 && notKept.test(words)) return undefined
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

function bodyOf(text: string): { message: string; code: string; requestId: string | undefined } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // An HTML page or plain text is of no use to a caller.
    return { message: '', code: '', requestId: undefined }
  }
  // A stream that was refused may be a list with one error in it.
  const first: unknown = Array.isArray(body) ? body[0] : body
  const outer = isObject(first) ? first : {}
  const error = isObject(outer['error']) ? outer['error'] : outer
  const text_ = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    message: text_(error['message']) || text_(outer['error']) || text_(outer['message']),
    code: [error['code'], error['type'], error['status'], ...reasonsIn(error['details'])]
      .map(text_)
      .join(' '),
    requestId: text_(outer['request_id']) || text_(error['request_id']) || undefined,
  }
}

/** `details: [{reason: 'API_KEY_INVALID'}]` */
const reasonsIn = (details: unknown): unknown[] =>
  Array.isArray(details)
    ? details.map((each: unknown) => (isObject(each) ? each['reason'] : undefined))
    : []

/** Seconds or an HTTP date, clamped to what a caller can act on. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = /^-?\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(600, Math.max(1, Math.ceil(seconds))) : undefined
}
