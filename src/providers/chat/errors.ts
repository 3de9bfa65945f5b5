// An upstream's refusal in the words of the error table. The text is the upstream's own, cleaned later.
import type { HttpAnswer, UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'

/** Words by which upstreams of this style name a content refusal. */
const contentPolicy = /content_policy|content_filter|data_inspection|inappropriate content/i

export const upstreamRequestId = (answer: HttpAnswer): string | undefined =>
  answer.header('x-request-id') ?? answer.header('request-id')

export function readError(answer: HttpAnswer, text: string): UpstreamError {
  const { status } = answer
  const { message, code, requestId } = bodyOf(text)
  const retryAfterSeconds = retryAfter(answer.header('retry-after'))
  const id = upstreamRequestId(answer) ?? requestId
  return {
    code: codeFor(status, `${code} ${message}`),
    message: message || `the upstream answered with status ${status}`,
    httpStatus: status,
    ...(id !== undefined && { upstreamRequestId: id }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

/** An `error` object inside a stream that had begun well. */
export function readErrorEvent(error: unknown, requestId: string | undefined): UpstreamError {
  const { message, code } = bodyOf(JSON.stringify({ error }))
  return {
    code: contentPolicy.test(`${code} ${message}`) ? 'content_policy_violation' : 'upstream_error',
    message: message || 'the upstream reported an error in its stream',
    ...(requestId !== undefined && { upstreamRequestId: requestId }),
  }
}

function codeFor(status: number, words: string): UpstreamError['code'] {
  if (status === 400 || status === 413 || status === 422) {
    return contentPolicy.test(words) ? 'content_policy_violation' : 'upstream_invalid_request'
  }
  if (status >= 401 && status <= 404) return 'upstream_permission_denied'
  if (status === 429) return 'upstream_rate_limited'
  if (status === 408 || status === 504) return 'upstream_timeout'
  return 'upstream_error'
}

function bodyOf(text: string): { message: string; code: string; requestId: string | undefined } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // An HTML page or plain text says nothing a caller could use.
    return { message: '', code: '', requestId: undefined }
  }
  const outer = isObject(body) ? body : {}
  const error = isObject(outer['error']) ? outer['error'] : outer
  const text_ = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    message: text_(error['message']) || text_(outer['error']) || text_(outer['message']),
    code: `${text_(error['code'])} ${text_(error['type'])}`,
    requestId: text_(outer['request_id']) || undefined,
  }
}

/** Seconds or an HTTP date, clamped to what a caller can act on. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = /^-?\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(600, Math.max(1, Math.ceil(seconds))) : undefined
}
