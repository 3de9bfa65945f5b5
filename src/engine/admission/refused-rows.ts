// How many refused requests have a row of their own in the request log: so many of an account in a minute,
// as they cost their caller nothing. The others are counted in one row, that of the first of them, which
// is written when the minute is over.
import type { RequestRecord } from '../../contract/requests.ts'
import type { BaseDeps } from '../base-deps.ts'

export const maxRefusedRows = 300
const minuteMs = 60_000

interface Minute {
  rows: number
  /** The first one without a row, which stands for all of them. */
  first?: RequestRecord
  omitted: number
}

/** By account; begun anew when the minute is over. */
const minutes = new WeakMap<BaseDeps['store'], Map<string, Minute>>()

/** Whether a refused request has a row of its own. */
export function keepsRefused(deps: BaseDeps, record: RequestRecord): boolean {
  const accounts = minutes.get(deps.store) ?? begin(deps)
  let minute = accounts.get(record.accountId)
  if (minute === undefined) {
    minute = { rows: 0, omitted: 0 }
    accounts.set(record.accountId, minute)
  }
  if (minute.rows < maxRefusedRows) {
    minute.rows++
    return true
  }
  minute.first ??= record
  minute.omitted++
  return false
}

function begin(deps: BaseDeps): Map<string, Minute> {
  const accounts = new Map<string, Minute>()
  minutes.set(deps.store, accounts)
  setTimeout(() => writeOmitted(deps), minuteMs).unref()
  return accounts
}

/** Ends the minute. */
export function writeOmitted(deps: BaseDeps): void {
  const accounts = minutes.get(deps.store)
  minutes.delete(deps.store)
  for (const { first, omitted } of accounts?.values() ?? []) {
    if (first === undefined) continue
    first.detail.omitted = omitted
    const since = new Date(first.atMs).toISOString()
    const said = `${omitted} requests were refused within a minute since ${since} without rows of their own`
    first.detail.error = `${said}; the first of them: ${first.detail.error ?? ''}`
    deps.store.record(first).catch(() => {
      // The store reports its own failure; nothing that was billed is lost.
    })
  }
}
