// The end of a task's hold, in one transaction: the release, and the charge for what was delivered.
// A charge above the hold takes the rest from the free balance; what that does not cover is
// reported as short, and the balance never falls below zero. An account that was short since its
// last credit is charged nothing for a task that would make it short again: that one is withheld.
import type { ChargeTexts, Entry } from '../contract/ledger.ts'
import { ensure } from '../lib/ensure.ts'
import type { Tx } from '../store/index.ts'
import { lockFreeNanos } from '../store/ledger/credit-leases.ts'
import { appendEntry, findEntry } from '../store/ledger/entries.ts'
import { claimShort } from '../store/ledger/short-accounts.ts'
import { addToTotals, lockAccount } from '../store/proof/receipts.ts'

/** Labels of a charge; the ledger copies them into the entry. */
export type ChargeLabels = ChargeTexts &
  Pick<
    Entry,
    'tokenId' | 'model' | 'unit' | 'tier' | 'quantity' | 'priceId' | 'estimated' | 'channel'
  >

export interface TaskSettlement extends ChargeLabels {
  taskId: string
  /** Cost of what was delivered, whatever was held for it. */
  chargeNanos: bigint
  /** What the upstream takes for it; absent: not known. */
  costNanos?: bigint
}

/** What the end of a task has booked. */
export interface TaskBooking {
  chargeNanos: bigint
  /** The part of its cost that the account could not cover. */
  shortNanos: bigint
  /** The account was short before: nothing is charged, and nothing may be delivered. */
  isWithheld: boolean
}

export interface EndingHold {
  accountId: string
  taskId: string
  atMs: number
  charge: TaskSettlement | undefined
}

/** What may be taken beyond the hold. */
interface BeyondHold {
  /** Reserved for this charge; undefined: use the free balance in the database. */
  reservedNanos: bigint | undefined
  /** No more is available: what is missing is short. */
  isLast: boolean
}

/** `missingNanos`: nothing was written, because this much more is needed. */
type EndedHold = (TaskBooking & { heldNanos: bigint }) | { missingNanos: bigint }

/** Undefined: the hold had ended, or never existed. */
export async function endHold(
  tx: Tx,
  { accountId, taskId, atMs, charge }: EndingHold,
  beyond: BeyondHold,
): Promise<EndedHold | undefined> {
  const hold = await findEntry(tx, taskId, 'hold')
  if (hold === undefined) return undefined
  ensure(hold.accountId === accountId, `task ${taskId} is of the account it is ended for`)
  const amountNanos = -hold.amountNanos
  const costNanos = charge?.chargeNanos ?? 0n
  ensure(costNanos >= 0n, 'a charge is never negative')
  const coverNanos = costNanos <= amountNanos ? 0n : await freeFor(tx, accountId, beyond)
  const missingNanos = costNanos - amountNanos - coverNanos
  if (missingNanos > 0n && !beyond.isLast) return { missingNanos }
  const isShort = missingNanos > 0n
  const isWithheld = isShort && !(await claimShort(tx, { accountId, ref: taskId }))
  const shortNanos = isShort && !isWithheld ? missingNanos : 0n
  // Every entry of a task has the tags of its hold.
  const { tags } = hold
  const base = { atMs, accountId, ref: taskId, ...(tags !== undefined && { tags }) }
  if (!(await appendEntry(tx, { ...base, kind: 'release', amountNanos }))) return undefined
  const chargeNanos = isWithheld ? 0n : costNanos - shortNanos
  if (charge !== undefined && !isWithheld) {
    const { taskId: paidBy, chargeNanos: _, ...labels } = charge
    ensure(paidBy === taskId, 'a task pays for itself')
    const entry: Entry = { ...base, ...labels, kind: 'charge', amountNanos: -chargeNanos }
    ensure(await appendEntry(tx, entry), `task ${taskId} is charged once`)
  }
  if (isWithheld && charge?.costNanos) {
    const { taskId: _, chargeNanos: __, quantity: ___, estimated: ____, ...labels } = charge
    await bookFreeWork(tx, { ...base, ...labels })
  }
  return { chargeNanos, shortNanos, isWithheld, heldNanos: amountNanos }
}

/** Work without a charge, whose cost counts all the same. */
export async function bookFreeWork(
  tx: Tx,
  work: Omit<Entry, 'kind' | 'amountNanos'>,
): Promise<void> {
  await lockAccount(tx, work.accountId)
  await addToTotals(tx, [{ ...work, id: 0, kind: 'charge', amountNanos: 0n, isFree: true }])
}

async function freeFor(tx: Tx, accountId: string, { reservedNanos }: BeyondHold): Promise<bigint> {
  if (reservedNanos !== undefined) return reservedNanos
  const freeNanos = await lockFreeNanos(tx, accountId)
  return freeNanos > 0n ? freeNanos : 0n
}
