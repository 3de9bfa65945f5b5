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

/** Asks about names, then gives what to write. */
export function* rollUp(bookings: readonly Booking[]): Generator<NamesAsked, RollUp, NamesKnown> {
  const names = yield* nameTotals(bookings)
  const hours = new Map<string, Value[]>()
  const tags = new Map<string, Value[]>()
  const channels = new Map<string, Value[]>()
  let last: { booking: Booking; sums: Value[]; ofChannel: Value[] | undefined } | undefined
  for (const booking of bookings) {
    const model = booking.model === undefined ? '' : names.of(booking, modelName, booking.model)
    const shares = sharesOf(booking)
    // Calls of one token come in rows: comparing is cheaper than making a key for each.
    if (last !== undefined && areAlike(last.booking, booking)) {
      addTo(last.sums, hourKeys, shares)
      if (last.ofChannel !== undefined)
        addTo(last.ofChannel, channelKeys, workShares(booking, shares))
    } else {
      const sums = addHour(hours, booking, model, shares)
      last = { booking, sums, ofChannel: addChannel(channels, booking, model, shares) }
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
    month: monthsOf(channels.values()),
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

/** The row that it is added to. */
function addHour(
  hours: Map<string, Value[]>,
  booking: Booking,
  model: string,
  shares: readonly Value[],
): Value[] {
  const { accountId, atMs, kind, tokenId = '', unit = '', tier = '', priceId = '' } = booking
  const hour = hourOf(atMs)
  const bucket = bucketOf(booking)
  const name = `${accountId}\x1f${hour}\x1f${kind}\x1f${tokenId}\x1f${model}\x1f${unit}\x1f${tier}\x1f${priceId}\x1f${bucket}`
  const sums = hours.get(name)
  if (sums !== undefined) return addTo(sums, hourKeys, shares)
  const keys = [accountId, hour, kind, tokenId, model, unit, tier, priceId, bucket]
  const made = [...keys, ...shares]
  hours.set(name, made)
  return made
}

/** The row that it is added to; undefined: it is no work of a channel. */
function addChannel(
  channels: Map<string, Value[]>,
  booking: Booking,
  model: string,
  shares: readonly Value[],
): Value[] | undefined {
  if (!isWork(booking)) return undefined
  const { accountId, atMs, channel = '', unit = '' } = booking
  const day = atMs - (atMs % dayMs)
  const name = `${day}\x1f${channel}\x1f${model}\x1f${unit}\x1f${accountId}`
  const sums = channels.get(name)
  if (sums !== undefined) return addTo(sums, channelKeys, workShares(booking, shares))
  const made = [day, channel, model, unit, accountId, ...workShares(booking, shares)]
  channels.set(name, made)
  return made
}

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
    const text = key.join('\x1f')
    const sums = tags.get(text)
    if (sums !== undefined) addTo(sums, key.length, shares)
    else tags.set(text, [...key, ...shares])
  }
}

/** What hours add to their days, without the size class of inputs. */
function daysOf(hours: Iterable<readonly Value[]>): Value[][] {
  const days = new Map<string, Value[]>()
  for (const hour of hours) {
    const [accountId, hourAt, ...rest] = hour.slice(0, hourKeys - 1)
    const key = [accountId!, Number(hourAt) - (Number(hourAt) % dayMs), ...rest]
    const text = key.join('\x1f')
    const sums = days.get(text)
    const shares = hour.slice(hourKeys)
    if (sums !== undefined) addTo(sums, key.length, shares)
    else days.set(text, [...key, ...shares])
  }
  return [...days.values()]
}

/** What days of channels add to their months. */
function monthsOf(days: Iterable<readonly Value[]>): Value[][] {
  const months = new Map<string, Value[]>()
  for (const day of days) {
    const [dayAt, channel, model, unit, accountId] = day
    const key = [monthStart(Number(dayAt)), accountId!, channel!, model!, unit!]
    const text = key.join('\x1f')
    const sums = months.get(text)
    const shares = day.slice(channelKeys)
    if (sums !== undefined) addTo(sums, key.length, shares)
    else months.set(text, [...key, ...shares])
  }
  return [...months.values()]
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
