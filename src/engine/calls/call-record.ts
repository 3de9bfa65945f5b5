// The request log row of a call, filled in as the call proceeds.

import type { CallContext } from '../../contract/caller-api.ts'
import type { Interface, Protocol } from '../../contract/catalog.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { CallEnding, RequestRecord, TextCall } from '../../contract/requests.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { knownModelOf } from '../admission/known-model.ts'
import { keepsRefused } from '../admission/refused-rows.ts'
import type { BaseDeps } from '../base-deps.ts'
import type { Jobs } from '../jobs.ts'
import { retryWrite } from '../tasks/retry-write.ts'
import type { Meters } from '../telemetry/metrics/meters.ts'
import type { Tracer } from '../telemetry/traces/tracer.ts'

export interface RecordDeps extends BaseDeps {
  readonly jobs: Pick<Jobs, 'lossAlerts'>
  readonly meters?: Meters
  readonly tracer?: Tracer
}

/** The part of a request that its row needs. */
interface RecordedContext
  extends Pick<CallContext, 'requestId' | 'atMs' | 'trace' | 'tags' | 'clientRetry' | 'bodyHash'> {
  token: Pick<CallContext['token'], 'id' | 'accountId'>
}

export function newRecord(ctx: RecordedContext, use: Interface, model: string): RequestRecord {
  const record: RequestRecord = {
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
  if (ctx.tags !== undefined) record.tags = ctx.tags
  if (ctx.clientRetry !== undefined) {
    record.detail.clientRetry = ctx.clientRetry
    recordBody(record, ctx)
  }
  if (ctx.trace !== undefined) {
    record.trace = ctx.trace
    record.detail.traceId = ctx.trace.traceId
  }
  return record
}

/** By it a retry is known for that of a call whose caller left. */
export function recordBody({ detail }: RequestRecord, ctx: Pick<CallContext, 'bodyHash'>): void {
  const hash = ctx.bodyHash?.()
  if (hash !== undefined) detail.bodyHash = hash
}

/** How the answer of a call came about whose style is not the upstream's. */
export function recordTranslation(
  { detail }: RequestRecord,
  { interface: own, rewritten }: TextCall,
  protocol: Protocol,
  losses: readonly string[] | undefined,
): void {
  detail.translation = losses === undefined ? rewritten!.path : `${own}>${protocol}`
  const all = [...new Set([...(rewritten?.losses ?? []), ...(losses ?? [])])].sort()
  if (all.length > 0) detail.translationLosses = all
}

/** What the answer of a stream has lost: known at its end. */
export function addAnswerLosses({ detail }: RequestRecord, losses: readonly string[]): void {
  if (losses.length === 0) return
  detail.translationLosses = [...new Set([...(detail.translationLosses ?? []), ...losses])].sort()
}

export function endRecord(
  engine: RecordDeps,
  record: RequestRecord,
  ending: CallEnding,
  status: number,
): RequestRecord {
  record.status = status
  record.detail.ending = ending
  record.totalMs = engine.clock.nowMs() - record.atMs
  return record
}

/** A request is over and its row complete: it is counted and, where wanted, traced. Once for each. */
export function recordEnd(engine: RecordDeps, record: RequestRecord): void {
  engine.meters?.call(record)
  engine.tracer?.call(record)
  if (record.detail.loss !== undefined) engine.jobs.lossAlerts.addOfCall(record)
  if (engine.log.level === 'debug') logEnd(engine, record)
}

function logEnd(engine: RecordDeps, record: RequestRecord): void {
  engine.log.debug('request ended', {
    request_id: record.requestId,
    trace_id: record.detail.traceId,
    upstream_request_id: record.upstreamRequestId,
    token_id: record.tokenId,
    interface: record.interface,
    model: knownModelOf(record),
    channel: record.channel,
    status: record.status,
    code: record.errorCode,
    took_ms: record.totalMs,
    first_byte_ms: record.firstByteMs,
    cost: formatNanos(record.chargeNanos),
  })
}

/** Writes a row that carries no money. Not awaited; losing it loses nothing billed. */
export function recordUnbilled(
  engine: RecordDeps,
  record: RequestRecord,
  ending: CallEnding,
  refusal: Refusal,
): Refusal {
  endRecord(engine, record, ending, refusal.status)
  record.errorCode = refusal.code
  record.detail.error = refusal.message
  if (ending === 'refused' && !keepsRefused(engine, record)) recordEnd(engine, record)
  else writeRecord(engine, record)
  return refusal
}

/** 499: the caller hung up before anything was produced. */
export function recordHangUp(engine: RecordDeps, record: RequestRecord): void {
  endRecord(engine, record, 'caller_left', 499)
  record.errorCode = 'caller_left'
  writeRecord(engine, record)
}

export function writeRecord(engine: RecordDeps, record: RequestRecord): void {
  recordEnd(engine, record)
  const write = () => engine.store.record(record)
  // It records a loss, so a failed write is retried.
  const written = record.detail.loss === undefined ? write() : retryWrite(engine, write)
  written.catch((error) => {
    engine.log.warn('a request row could not be written', {
      request_id: record.requestId,
      error,
    })
  })
}
