// The one place where a refusal becomes a response body. The body is the same everywhere; each surface
// adds the fields that its SDKs read.
import { Refusal, refusals } from '../contract/errors.ts'
import { type Dialect, statusOf } from './dialect.ts'
import { rateHeaders } from './rate-headers.ts'
import { type AnswerHeaders, answerJson, type RequestContext } from './request-context.ts'

/** The text for callers; the request id leads to the details. */
export const publicText = ({ message }: Pick<Refusal, 'message'>, requestId: string): string =>
  `${message} (${requestId})`

export function errorBody(
  refusal: Refusal,
  requestId: string,
  { errors, errorText }: Dialect,
  request?: Request,
): string {
  const { top, error } = errors?.render(refusal, requestId, request) ?? {}
  const message = errorText?.(refusal) ?? refusal.message
  return JSON.stringify({
    ...top,
    error: {
      message: publicText({ message }, requestId),
      type: refusals[refusal.code].type,
      code: refusal.code,
      param: refusal.extras.param ?? null,
      request_id: requestId,
      upstream_request_id: refusal.extras.upstreamRequestId ?? '',
      ...error,
    },
  })
}

export function answerRefusal(x: RequestContext, refusal: Refusal): Response {
  const { retryAfterSeconds, replayOf } = refusal.extras
  const isReplay = replayOf !== undefined
  const extra: AnswerHeaders = {}
  if (isReplay) extra['idempotent-replayed'] = 'true'
  const isFinal = isReplay || refusals[refusal.code].retry === false
  if (isFinal) extra['x-should-retry'] = 'false'
  if (retryAfterSeconds !== undefined) extra['retry-after'] = String(retryAfterSeconds)
  else if (!isFinal && (refusal.status === 429 || refusal.status === 503)) {
    extra['retry-after'] = '1'
  }
  if (refusal.extras.allow !== undefined) extra['allow'] = refusal.extras.allow
  Object.assign(extra, rateHeaders(refusal.extras.rate))
  const status = statusOf(refusal.code, x.dialect)
  return answerJson(x, errorBody(refusal, x.requestId, x.dialect, x.request), status, extra)
}

export const answer = (x: RequestContext, result: Response | Refusal): Response =>
  result instanceof Refusal ? answerRefusal(x, result) : result
