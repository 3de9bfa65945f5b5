// The log row of a call, filled in as the call goes on.

import type { Interface } from '../contract/catalog.ts'
import type { Refusal } from '../contract/errors.ts'
import type { UpstreamError } from '../contract/provider.ts'
import type { Attempt, CallEnding, RequestRecord } from '../contract/requests.ts'
import type { Admission } from './admit.ts'
import type { CallContext, Engine } from './engine.ts'

export function newRecord(ctx: CallContext, use: Interface, model: string): RequestRecord {
  return {
    requestId: ctx.requestId,
    atMs: ctx.atMs,
    accountId: ctx.token.accountId,
    tokenId: ctx.token.id,
    interface: use,
    model,
    status: 0,
    chargeNanos: 0n,
    totalMs: 0,
    detail: { stream: false, ending: 'refused', attempts: [] },
  }
}

/** The route taken; from here on the row names the channel and the price it was admitted at. */
export function noteAdmission(record: RequestRecord, { route, price }: Admission): void {
  record.channel = route.channel.name
  if (route.upstreamModel !== record.model) record.detail.upstreamModel = route.upstreamModel
  record.priceId = price.id
}

export function noteAttempt(
  engine: Engine,
  record: RequestRecord,
  startedMs: number,
  outcome: { status?: number; error?: string; upstreamRequestId?: string | undefined },
): void {
  if (outcome.upstreamRequestId !== undefined) record.upstreamRequestId = outcome.upstreamRequestId
  const attempt: Attempt = { channel: record.channel ?? '', ms: engine.clock.nowMs() - startedMs }
  if (outcome.status !== undefined) attempt.status = outcome.status
  if (outcome.error !== undefined) attempt.error = outcome.error
  record.detail.attempts.push(attempt)
}

export function endRecord(
  engine: Engine,
  record: RequestRecord,
  ending: CallEnding,
  status: number,
): RequestRecord {
  record.status = status
  record.detail.ending = ending
  record.totalMs = engine.clock.nowMs() - record.atMs
  return record
}

/** Writes a row that carries no money. Nobody waits for it, and losing it loses nothing billed. */
export function recordUnbilled(
  engine: Engine,
  record: RequestRecord,
  ending: CallEnding,
  refusal: Refusal,
): Refusal {
  endRecord(engine, record, ending, refusal.status)
  record.errorCode = refusal.code
  record.detail.error = refusal.message
  write(engine, record)
  return refusal
}

/** 499: the caller hung up before anything was produced. */
export function recordHangUp(engine: Engine, record: RequestRecord): void {
  endRecord(engine, record, 'caller_left', 499)
  record.errorCode = 'caller_left'
  write(engine, record)
}

function write(engine: Engine, record: RequestRecord): void {
  engine.store.record(record).catch((error) => {
    engine.log.warn('a request row could not be written', {
      request_id: record.requestId,
      error,
    })
  })
}

/** The upstream's failure as the caller may read it: cleaned, its own words kept. */
export function cleaned(engine: Engine, error: UpstreamError, sent: string): UpstreamError {
  return { ...error, message: engine.cleaner.clean(error.message, sent) || 'the upstream failed' }
}
