// The one place where a refusal becomes bytes. The body is the same everywhere; each interface adds
// what its own SDKs look for.
import { Refusal, type RefusalCode, refusals } from '../contract/errors.ts'
import { envelopeCodeOf } from './envelope-code.ts'
import { type AnswerHeaders, answerJson, type Exchange } from './exchange.ts'
import { rateHeaders } from './rate-headers.ts'
import { rpcStatusOf } from './rpc-status.ts'

/** Extra top-level or error fields of an interface, by path prefix. */
type Dialect = (
  refusal: Refusal,
  requestId: string,
  request: Request | undefined,
) => { top?: object; error?: object }

const dialects: readonly [prefix: string, dialect: Dialect][] = [
  ['/v1/messages', messagesStyle],
  ['/vendorg/', longRunning],
  ['/imgvendor/', enveloped],
]

/** Its SDKs know some failures by words of their own. */
const messagesTypes: Readonly<Partial<Record<RefusalCode, string>>> = {
  request_too_large: 'request_too_large',
  insufficient_quota: 'billing_error',
  overloaded: 'overloaded_error',
  no_available_channel: 'overloaded_error',
}

function messagesStyle({ code, status }: Refusal, requestId: string): ReturnType<Dialect> {
  const type = messagesTypes[code] ?? (status === 404 ? 'not_found_error' : undefined)
  return {
    top: { type: 'error', request_id: requestId },
    ...(type !== undefined && { error: { type } }),
  }
}

/** Its SDKs show a message only beside a number; whoever comes another way gets the usual word. */
function longRunning(
  { code, status }: Refusal,
  _: string,
  request: Request | undefined,
): ReturnType<Dialect> {
  const word = { status: rpcStatusOf(status) }
  const bySdk = request?.headers.has('x-goog-api-key') || hasKey(request?.url ?? '')
  return { error: bySdk ? { ...word, code: status, reason: code } : word }
}

/** Its clients look at a whole number at the top, and at nothing else. */
function enveloped(
  refusal: Refusal,
  requestId: string,
  request: Request | undefined,
): ReturnType<Dialect> {
  const code = envelopeCodeOf(refusal, request)
  return { top: { code, message: publicText(refusal, requestId), request_id: requestId } }
}

const hasKey = (url: string): boolean => /[?&]key=/.test(url)

const publicText = ({ message }: Refusal, requestId: string): string => `${message} (${requestId})`

export function errorBody(
  refusal: Refusal,
  requestId: string,
  path: string,
  request?: Request,
): string {
  const dialect = dialects.find(([prefix]) => path.startsWith(prefix))?.[1]
  const { top, error } = dialect?.(refusal, requestId, request) ?? {}
  return JSON.stringify({
    ...top,
    error: {
      message: publicText(refusal, requestId),
      type: refusals[refusal.code].type,
      code: refusal.code,
      param: refusal.extras.param ?? null,
      request_id: requestId,
      upstream_request_id: refusal.extras.upstreamRequestId ?? '',
      ...error,
    },
  })
}

export function answerRefusal(x: Exchange, refusal: Refusal): Response {
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
  return answerJson(x, errorBody(refusal, x.requestId, x.path, x.request), refusal.status, extra)
}

export const answer = (x: Exchange, result: Response | Refusal): Response =>
  result instanceof Refusal ? answerRefusal(x, result) : result
