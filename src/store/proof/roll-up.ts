// What entries add to the totals of every grain, in the transaction that books them. Pure: asks for the
// names that have totals of their own, and gives the rows to add; each dialect runs the statements.
import { pairsIn } from '../../contract/tags/index.ts'
import type { Booking } from '../rows/ledger-rows.ts'
import { dayMs, type GrainName, grains, hourMs, inputBucketOf, sumColumns } from './grains.ts'
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

/** Asks about names, then gives what to write. */
export function* rollUp(bookings: readonly Booking[]): Generator<NamesAsked, RollUp, NamesKnown> {
  const names = yield* nameTotals(bookings)
  const [hours, tags] = [new Map<string, Value[]>(), new Map<string, Value[]>()]
  for (const booking of bookings) {
    const model = booking.model === undefined ? '' : names.of(booking, modelName, booking.model)
    const shares = sharesOf(booking)
    addHour(hours, booking, model, shares)
    if (booking.tags === undefined) continue
    if (booking.kind === 'charge') addTags(tags, booking, { model, shares, names })
    else if (booking.kind === 'refund') {
      addTags(tags, booking, { model, shares: refundShares(booking), names })
    }
  }
  const rows = { hour: [...hours.values()], day: daysOf(hours.values()), tag: [...tags.values()] }
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

/** Tags have sums of charges: of a refund only what is given back of them. */
const refundShares = ({ amountNanos }: Booking): Value[] =>
  sumColumns.map((name) => (name === 'refund_nanos' ? amountNanos : isNanos(name) ? 0n : 0))

const isNanos = (name: string): boolean => name.endsWith('_nanos')

function addHour(
  hours: Map<string, Value[]>,
  booking: Booking,
  model: string,
  shares: readonly Value[],
): void {
  const { accountId, atMs, kind, tokenId = '', unit = '', tier = '', priceId = '' } = booking
  const hour = atMs - (atMs % hourMs)
  const bucket = inputBucketOf(booking.usage?.inputTokens ?? 0)
  const name = `${accountId}\x1f${hour}\x1f${kind}\x1f${tokenId}\x1f${model}\x1f${unit}\x1f${tier}\x1f${priceId}\x1f${bucket}`
  const sums = hours.get(name)
  if (sums !== undefined) addTo(sums, grains.hour.keys.length, shares)
  else
    hours.set(name, [accountId, hour, kind, tokenId, model, unit, tier, priceId, bucket, ...shares])
}

function addTags(
  tags: Map<string, Value[]>,
  booking: Booking,
  { model, shares, names }: { model: string; shares: readonly Value[]; names: TotalNames },
): void {
  const { accountId, atMs, tokenId = '', unit = '' } = booking
  const hour = atMs - (atMs % hourMs)
  for (const [name, given] of pairsIn(booking.tags!)) {
    const value = names.of(booking, name, given)
    const key = [accountId, hour, name, value, tokenId, model, unit]
    const text = key.join('\x1f')
    const sums = tags.get(text)
    if (sums !== undefined) addTo(sums, key.length, shares)
    else tags.set(text, [...key, ...shares])
  }
}

/** What hours add to their days, without the size class of inputs. */
function daysOf(hours: Iterable<readonly Value[]>): Value[][] {
  const days = new Map<string, Value[]>()
  const width = grains.hour.keys.length
  for (const hour of hours) {
    const [accountId, hourAt, ...rest] = hour.slice(0, width - 1)
    const key = [accountId!, Number(hourAt) - (Number(hourAt) % dayMs), ...rest]
    const text = key.join('\x1f')
    const sums = days.get(text)
    const shares = hour.slice(width)
    if (sums !== undefined) addTo(sums, key.length, shares)
    else days.set(text, [...key, ...shares])
  }
  return [...days.values()]
}

function addTo(sums: Value[], from: number, shares: readonly Value[]): void {
  // Each column is of one kind of number.
  for (let i = 0; i < sumColumns.length; i++) {
    sums[from + i] = ((sums[from + i] as number) + (shares[i] as number)) as never
  }
}
