// Request log rows for requests that are refused before authentication: what they were about, as
// far as path and fields tell. Rate-limited, so that they cannot fill the log.
import type { CallerRequest } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import type { Refusal } from '../../contract/errors.ts'
import { endRecord, newRecord, type RecordDeps } from '../calls/call-record.ts'

const maxModelLength = 256

/** The model that a path names, existing or not. */
const modelIn = (path: string): string =>
  /\/models\/([^/:]+):/.exec(path)?.[1]?.slice(0, maxModelLength) ?? ''

/** Rows of this kind per second, and the burst: any client can cause them. */
const rowsPerSecond = 20
const maxRowsAtOnce = 200

interface Budget {
  rows: number
  atMs: number
}
const budgets = new WeakMap<RecordDeps, Budget>()

function mayRecord(engine: RecordDeps): boolean {
  const nowMs = performance.now()
  const budget = budgets.get(engine) ?? { rows: maxRowsAtOnce, atMs: nowMs }
  const refilled = budget.rows + ((nowMs - budget.atMs) / 1000) * rowsPerSecond
  budget.rows = Math.min(maxRowsAtOnce, refilled)
  budget.atMs = nowMs
  budgets.set(engine, budget)
  if (budget.rows < 1) return false
  budget.rows--
  return true
}

/** A refused read, or a request without a valid token: it belongs to no account. */
export function recordRefused(
  engine: RecordDeps,
  x: Omit<CallerRequest, 'connection'>,
  refusal: Refusal,
  token?: Token,
): Refusal {
  if (!mayRecord(engine)) return refusal
  const { requestId, atMs, path } = x
  const owner = { accountId: token?.accountId ?? '', id: token?.id ?? '' }
  const trace = x.trace === undefined ? {} : { trace: x.trace }
  const record = newRecord(
    { requestId, atMs, token: owner, ...trace },
    x.dialect.loggedAs,
    modelIn(path),
  )
  endRecord(engine, record, 'refused', refusal.status)
  record.errorCode = refusal.code
  record.detail.error = refusal.message
  engine.store.record(record).catch(() => {
    // The store reports its own failure; the log line remains.
  })
  return refusal
}
