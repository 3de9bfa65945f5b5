// The entry that books the charge of a call.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import type { ChargeLabels } from './end-hold.ts'

export function chargeEntry(record: RequestRecord, labels: ChargeLabels): Entry {
  const entry: Entry = {
    ...labels,
    // Time of booking; the store moves it out of a closed month.
    atMs: record.atMs + record.totalMs,
    tokenId: record.tokenId,
    accountId: record.accountId,
    kind: 'charge',
    amountNanos: -record.chargeNanos,
    ref: record.requestId,
  }
  if (record.tags !== undefined) entry.tags = record.tags
  return entry
}
