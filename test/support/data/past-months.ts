// An account with a past, written into the store of a gateway that does not run: real gateways cannot
// be asked to have lived months ago.
import type { Entry } from '../../../src/contract/ledger.ts'
import { monthBounds } from '../../../src/lib/text/month.ts'
import { insertAccount } from '../../../src/store/catalog/accounts.ts'
import type { Store } from '../../../src/store/index.ts'
import { appendEntry } from '../../../src/store/ledger/entries.ts'
import { currencyKey } from '../../../src/store/proof/receipts.ts'
import { putMetaIfAbsent } from '../../../src/store/sql/meta.ts'

export interface PastEntry extends Partial<Entry> {
  month: string
  kind: Entry['kind']
  amountNanos: bigint
}

let written = 0

/** Each at the first hours of its month; the last one of a month at its last millisecond. */
export async function bookPast(
  store: Store,
  accountId: string,
  entries: readonly PastEntry[],
): Promise<void> {
  await store.tx(async (tx) => {
    // Receipts name it; a gateway that starts has written it before its first entry.
    await putMetaIfAbsent(tx, currencyKey, 'CNY')
    for (const [index, { month, ...entry }] of entries.entries()) {
      const { fromMs, untilMs } = monthBounds(month)!
      const isLast = entries[index + 1]?.month !== month
      const atMs = isLast ? untilMs - 1 : fromMs + index * 3_600_000
      const ref = entry.ref ?? `past:${++written}`
      await appendEntry(tx, { atMs, accountId, ...entry, ref })
    }
  })
}

export async function openPast(
  store: Store,
  name: string,
  entries: readonly PastEntry[],
): Promise<string> {
  const id = `acc_past_${name}`
  await store.tx((tx) => insertAccount(tx, { id, name, source: 'api', createdAtMs: 1 }))
  await bookPast(store, id, entries)
  return id
}
