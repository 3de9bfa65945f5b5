// What entries add to the totals of every grain, in the transaction that books them. Pure: asks for the
// names that have totals of their own, and gives the rows to add; each dialect runs the statements.
import { pairsIn } from '../../contract/tags/index.ts'
import type { Booking } from '../rows/ledger-rows.ts'
import {
  dayMs,
  type GrainName,
  grains,
  hourMs,
  inputBucketOf,
  monthStart,
  sumColumns,
} from './grains.ts'
import {
  modelName,
  type NamesAsked,
  type NamesKnown,
  nameTotals,
  type TotalNames,
} from './total-names.ts'

type Value = string | number | bigint

export interface RollUp {
  /** To be stored, in the order of `nameColumns`. */
  names: readonly (readonly string[])[]
  /** In the order of the grain's columns. */
  rows: Readonly<Record<GrainName, readonly Value[][]>>
}

const slots = 16

/** That of a gateway for its batches: ids end with a hexadecimal digit. */
export const slotOf = (id: string): number => Number.parseInt(id.slice(-1), slots) || 0

/** That of a single entry: of its account, so that settlements seldom wait for each other, and never for a batch. */
export const entrySlotOf = (accountId: string): number => slots + slotOf(accountId)

/** Asks about names, then gives what to write. `slot`: the part of the totals of all accounts that they are added to. */
export function* rollUp(
  bookings: readonly Booking[],
  slot = 0,
): Generator<NamesAsked, RollUp, NamesKnown> {
  const names = yield* nameTotals(bookings)
  const hours = new Map<string, Value[]>()
  const tags = new Map<string, Value[]>()
  const channels = new Map<string, Value[]>()
  const months = new Map<string, Value[]>()
  let last: { booking: Booking; sums: Value[]; ofWork: WorkRows | undefined } | undefined
  for (const booking of bookings) {
    const model = booking.model === undefined ? '' : names.of(booking, modelName, booking.model)
    const shares = sharesOf(booking)
    // Calls of one token come in rows: comparing is cheaper than making a key for each.
    if (last !== undefined && areAlike(last.booking, booking)) {
      addTo(last.sums, hourKeys, shares)
      if (last.ofWork !== undefined) addWork(last.ofWork, workShares(booking, shares))
    } else {
      const sums = addTo(hourRow(hours, booking, model), hourKeys, shares)
      const ofWork = isWork(booking)
        ? { channel: channelRow(channels, booking, model), month: monthRow(months, booking, model) }
        : undefined
      if (ofWork !== undefined) addWork(ofWork, workShares(booking, shares))
      last = { booking, sums, ofWork }
    }
    if (booking.tags === undefined) continue
    if (isWork(booking)) {
      addTags(tags, booking, { model, shares: workShares(booking, shares), names })
    }
  }
  const rows = {
    hour: [...hours.values()],
    day: daysOf(hours.values()),
    tag: [...tags.values()],
    channel: [...channels.values()],
    month: [...months.values()],
    overall: overallOf(channels.values(), slot),
  }
  return { names: names.added, rows }
}

/** In the order of `sumColumns`. */
function sharesOf(booking: Booking): Value[] {
  const { kind, quantity, amountNanos, estimated, usage, isFree, costNanos } = booking
  return [
    quantity ?? 0,
    amountNanos,
    isFree === true ? 0 : 1,
    estimated === true ? 1 : 0,
    usage?.inputTokens ?? 0,
    usage?.outputTokens ?? 0,
    usage?.cacheReadTokens ?? 0,
    usage?.cacheWriteTokens ?? 0,
    costNanos ?? 0n,
    kind === 'charge' && costNanos === undefined ? 1 : 0,
    kind === 'refund' ? amountNanos : 0n,
  ]
}

const isWork = ({ kind }: Booking): boolean => kind === 'charge' || kind === 'refund'

/** Tags and channels have sums of charges: of a refund only what is given back of them. */
const workShares = ({ kind, amountNanos }: Booking, shares: readonly Value[]): readonly Value[] =>
  kind === 'charge'
    ? shares
    : sumColumns.map((name) => (name === 'refund_nanos' ? amountNanos : isNanos(name) ? 0n : 0))

const isNanos = (name: string): boolean => name.endsWith('_nanos')

const hourKeys = grains.hour.keys.length
const channelKeys = grains.channel.keys.length
const monthKeys = grains.month.keys.length
const overallKeys = grains.overall.keys.length
const hourOf = (atMs: number): number => atMs - (atMs % hourMs)
const bucketOf = ({ usage }: Booking): number => inputBucketOf(usage?.inputTokens ?? 0)

/** Both add to the same row of an hour, and of a channel. */
const areAlike = (one: Booking, other: Booking): boolean =>
  one.accountId === other.accountId &&
  one.tokenId === other.tokenId &&
  one.model === other.model &&
  one.priceId === other.priceId &&
  one.kind === other.kind &&
  one.unit === other.unit &&
  one.tier === other.tier &&
  one.channel === other.channel &&
  hourOf(one.atMs) === hourOf(other.atMs) &&
  bucketOf(one) === bucketOf(other)

function hourRow(hours: Map<string, Value[]>, booking: Booking, model: string): Value[] {
  const { accountId, atMs, kind, tokenId = '', unit = '', tier = '', priceId = '' } = booking
  const of = [accountId, hourOf(atMs), kind, tokenId, model, unit, tier, priceId]
  return rowIn(hours, [...of, bucketOf(booking)])
}

/** Rows of the work of a channel: of its day, and of its month. */
interface WorkRows {
  channel: Value[]
  month: Value[]
}

function addWork({ channel, month }: WorkRows, shares: readonly Value[]): void {
  addTo(channel, channelKeys, shares)
  addTo(month, monthKeys, shares)
}

function channelRow(channels: Map<string, Value[]>, booking: Booking, model: string): Value[] {
  const { accountId, atMs, channel = '', unit = '' } = booking
  const day = atMs - (atMs % dayMs)
  return rowIn(channels, [day, channel, model, unit, accountId])
}

function monthRow(months: Map<string, Value[]>, booking: Booking, model: string): Value[] {
  const { accountId, atMs, channel = '', unit = '' } = booking
  const { tokenId = '', tier = '', priceId = '' } = booking
  const of = [monthStart(atMs), accountId, channel, model, unit]
  return rowIn(months, [...of, tokenId, tier, priceId])
}

/** The row of these keys, with nothing added yet where it is new. */
function rowIn(rows: Map<string, Value[]>, keys: readonly Value[]): Value[] {
  const name = keys.join('\x1f')
  let row = rows.get(name)
  if (row === undefined) {
    row = [...keys, ...nothing]
    rows.set(name, row)
  }
  return row
}

const nothing = sumColumns.map((name) => (isNanos(name) ? 0n : 0))

function addTags(
  tags: Map<string, Value[]>,
  booking: Booking,
  { model, shares, names }: { model: string; shares: readonly Value[]; names: TotalNames },
): void {
  const { accountId, atMs, tokenId = '', unit = '' } = booking
  const hour = hourOf(atMs)
  for (const [name, given] of pairsIn(booking.tags!)) {
    const value = names.of(booking, name, given)
    const key = [accountId, hour, name, value, tokenId, model, unit]
    addTo(rowIn(tags, key), key.length, shares)
  }
}

/** What hours add to their days, without the size class of inputs. */
function daysOf(hours: Iterable<readonly Value[]>): Value[][] {
  const days = new Map<string, Value[]>()
  for (const hour of hours) {
    const [accountId, hourAt, ...rest] = hour.slice(0, hourKeys - 1)
    const key = [accountId!, Number(hourAt) - (Number(hourAt) % dayMs), ...rest]
    addTo(rowIn(days, key), key.length, hour.slice(hourKeys))
  }
  return [...days.values()]
}

/**
 * What days of channels add to those of all accounts, in the order of their keys: two transactions that add to the same
 * rows never wait for each other.
 */
function overallOf(days: Iterable<readonly Value[]>, slot: number): Value[][] {
  const rows = new Map<string, Value[]>()
  for (const day of days) {
    const [dayAt, channel, model, unit] = day
    const row = rowIn(rows, [dayAt!, channel!, model!, unit!, slot])
    addTo(row, overallKeys, day.slice(channelKeys))
  }
  const names = [...rows.keys()].sort()
  return names.map((name) => rows.get(name)!)
}

function addTo(sums: Value[], from: number, shares: readonly Value[]): Value[] {
  for (let i = 0; i < sumColumns.length; i++) {
    const share = shares[i]!
    // Each column is of one kind of number.
    if (share !== 0 && share !== 0n)
      sums[from + i] = ((sums[from + i] as number) + (share as number)) as never
  }
  return sums
}
