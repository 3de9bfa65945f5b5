// Request log rows for requests that are refused before authentication: what they were about, as
// far as path and fields tell. Rate-limited, so that they cannot fill the log.
import type { CallerRequest } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import type { Refusal } from '../../contract/errors.ts'
import { endRecord, newRecord, type RecordDeps } from '../calls/call-record.ts'
import { keepsRefused } from './refused-rows.ts'

const maxModelLength = 256

/** The model that a path names, existing or not. */
const modelIn = (path: string): string =>
  /\/models\/([^/:]+):/.exec(path)?.[1]?.slice(0, maxModelLength) ?? ''

/** A refused read. */
export function recordRefused(
  engine: RecordDeps,
  x: Omit<CallerRequest, 'connection'>,
  refusal: Refusal,
  token: Token,
): Refusal {
  const { requestId, atMs, path } = x
  const trace = x.trace === undefined ? {} : { trace: x.trace }
  const record = newRecord({ requestId, atMs, token, ...trace }, x.dialect.loggedAs, modelIn(path))
  endRecord(engine, record, 'refused', refusal.status)
  record.errorCode = refusal.code
  record.detail.error = refusal.message
  if (!keepsRefused(engine, record)) return refusal
  engine.store.record(record).catch(() => {
    // The store reports its own failure; the log line remains.
  })
  return refusal
}
