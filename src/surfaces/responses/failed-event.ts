// A failure inside a stream of the responses style. A response that the gateway wrote itself ends as a
// failed response; so does any stream of a coding tool, which knows no other end. Other callers get the
// error event of the style.
import { type Refusal, type RefusalCode, refuse } from '../../contract/errors.ts'
import { answerEvents, type RequestContext } from '../../http/request-context.ts'
import { echoOf } from '../../styles/responses/echo.ts'
import { failedCode, withWait } from '../../styles/responses/failure-words.ts'
import type { Caller, FailedCall } from '../common/surface.ts'

interface ErrorFields {
  code: RefusalCode
  message: string
  param: string | null
}

/** Both with the gateway's error object, for clients that look for one. */
export function errorEvent(errorBody: string, failed: FailedCall): string {
  const { error } = JSON.parse(errorBody) as { error: ErrorFields }
  const { code, message, param } = error
  const { events: sequence_number, isTranslated, call } = failed
  if (!isTranslated && call?.codingTool !== true) {
    return eventOf({ type: 'error', code, message, param, sequence_number, error })
  }
  const response = {
    ...responseOf(failed, 'failed'),
    error: { code: failedCode(code), message },
  }
  return eventOf({ type: 'response.failed', sequence_number, response, error })
}

/** Failures that a coding tool handles in a stream only: it gives up after their HTTP status. */
const inStream: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'context_length_exceeded',
  'content_policy_violation',
  'rate_limit_exceeded',
  'upstream_rate_limited',
  'no_available_channel',
  'overloaded',
])

/** The failure of a call as a whole stream, for callers that need it there. */
export function answerFailure(
  x: RequestContext,
  refusal: Refusal,
  ctx: Caller,
): Response | undefined {
  const { call, requestId, atMs } = ctx
  if (call?.codingTool !== true || !call.stream || !inStream.has(refusal.code)) return undefined
  const { code, message, extras } = refusal
  const failure = refuse(code, withWait(message, refusal), extras)
  const stream = { events: 1, isTranslated: false }
  const response = responseOf({ ...stream, requestId, atMs, call }, 'in_progress')
  const created = eventOf({ type: 'response.created', sequence_number: 0, response })
  const failed = Buffer.from(ctx.errorEvent(failure, stream)).toString()
  return answerEvents(x, created + failed)
}

function responseOf(
  { requestId, atMs, call }: FailedCall,
  status: 'in_progress' | 'failed',
): Record<string, unknown> {
  return {
    id: `resp_${requestId.slice(requestId.indexOf('_') + 1)}`,
    object: 'response',
    created_at: Math.floor(atMs / 1000),
    status,
    completed_at: null,
    error: null,
    incomplete_details: null,
    model: call?.model ?? '',
    output: [],
    ...echoOf(call?.fields ?? {}),
    usage: null,
  }
}

const eventOf = (data: Record<string, unknown>): string =>
  `event: ${data['type']}\ndata: ${JSON.stringify(data)}\n\n`
