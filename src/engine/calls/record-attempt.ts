// Attempts of a text call in its request log row, in the metrics and in the log.
import type { UpstreamError } from '../../contract/provider.ts'
import type { Attempt } from '../../contract/requests.ts'
import { isId } from './clean-error.ts'
import type { OpenCall, UpstreamAttempt } from './open-call.ts'

export const recordFailed = (
  open: OpenCall,
  attempt: UpstreamAttempt,
  { code, httpStatus: status, message: error, upstreamRequestId, about }: UpstreamError,
  shownCode: string = code,
): void =>
  recordAttempt(open, attempt, {
    ...(status !== undefined && { status }),
    error,
    upstreamRequestId,
    code: shownCode,
    ...(about === 'translation' && { unsent: true }),
  })

export function recordAttempt(
  { engine, record, admission: { served } }: OpenCall,
  { route: { channel }, key, startedMs, affinity, moved }: UpstreamAttempt,
  outcome: {
    status?: number
    error?: string
    upstreamRequestId: string | undefined
    code?: string
    unsent?: true
  },
): void {
  const { status, error, upstreamRequestId, code, unsent } = outcome
  if (upstreamRequestId !== undefined && isId(upstreamRequestId)) {
    record.upstreamRequestId = upstreamRequestId
  }
  const afterMs = startedMs - record.atMs
  const attempt: Attempt = { channel: channel.name, afterMs, ms: engine.clock.nowMs() - startedMs }
  if (served !== undefined) attempt.model = served.name
  if (channel.keys.length > 1) attempt.key = channel.keys.indexOf(key) + 1
  if (status !== undefined) attempt.status = status
  if (error !== undefined) attempt.error = error
  if (unsent) attempt.unsent = true
  if (affinity !== undefined) attempt.affinity = affinity
  if (moved !== undefined) attempt.moved = moved
  record.detail.attempts.push(attempt)
  // It says nothing about the channel.
  if (!unsent) engine.meters?.attempt(channel.name, attempt.ms, code)
}

export function logFailure(
  { engine, ctx, record }: OpenCall,
  error: UpstreamError,
  cause: unknown,
) {
  engine.log.info('upstream failed', {
    request_id: ctx.requestId,
    trace_id: ctx.trace?.traceId,
    channel: record.channel,
    code: error.code,
    // Its message may repeat the caller's text: only the request's row keeps it.
    status: error.httpStatus,
    cause: cause instanceof Error ? cause.message : cause,
  })
}
