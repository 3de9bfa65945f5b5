// What entries add to the hourly totals when they get their receipts: their shares, gathered by key. Pure.
import type { EntryKind } from '../../contract/ledger.ts'
import {
  allColumns,
  hourMs,
  inputBucketOf,
  keyColumns,
  valueColumns,
  type wholeNumbers,
} from './hourly-totals.ts'

/** What an entry adds to the hourly totals when it gets its receipt. */
interface HourShare {
  at_ms: number
  account_id: string
  kind: EntryKind
  spent_with: string
  model: string | null
  unit: string | null
  tier: string | null
  price_id: string | null
  estimated: number
  quantity: number | null
  amount_nanos: bigint
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
}

/** Sum of the entries of one hour with equal dimensions. */
export type Hour = Record<(typeof wholeNumbers)[number] | 'quantity', number> & {
  key: readonly (string | number)[]
  amount_nanos: bigint
}

const adding = valueColumns.map((name) => `${name} = hourly_totals.${name} + excluded.${name}`)
const keys = keyColumns.join(', ')

/** The values, or a query for them, go in between. */
export const addToHours = [
  `INSERT INTO hourly_totals (${allColumns.join(', ')})`,
  `ON CONFLICT (${keys}) DO UPDATE SET ${adding.join(', ')}`,
] as const

export const hourColumns: readonly string[] = allColumns

/** In the order of `hourColumns`. */
export const valuesOf = (hour: Hour): (string | number | bigint)[] => [
  ...hour.key,
  ...valueColumns.map((name) => hour[name]),
]

/** Sums shares with equal keys. `modelOf`: as totals name it, '' for none. */
export function gatherHours<S extends HourShare>(
  shares: readonly S[],
  modelOf: (share: S) => string,
): Hour[] {
  const hours = new Map<string, Hour>()
  for (const share of shares) {
    const key = hourKey(share, modelOf(share))
    const name = key.join('\u001f')
    const hour = hours.get(name)
    if (hour === undefined) hours.set(name, firstOf(key, share))
    else addToSums(hour, share)
  }
  return [...hours.values()]
}

/** In the order of `keyColumns`. */
const hourKey = (share: HourShare, model: string): (string | number)[] => [
  share.account_id,
  share.at_ms - (share.at_ms % hourMs),
  share.kind,
  share.spent_with,
  model,
  share.unit ?? '',
  share.tier ?? '',
  share.price_id ?? '',
  inputBucketOf(share.input_tokens),
]

const firstOf = (key: Hour['key'], share: HourShare): Hour => ({
  key,
  entries: 1,
  estimated: share.estimated,
  quantity: share.quantity ?? 0,
  amount_nanos: share.amount_nanos,
  input_tokens: share.input_tokens,
  output_tokens: share.output_tokens,
  cache_read_tokens: share.cache_read_tokens,
  cache_write_tokens: share.cache_write_tokens,
})

/** Adds an entry to the sums of its hour. */
export function addToSums(hour: Omit<Hour, 'key'>, share: Omit<HourShare, 'kind'>): void {
  hour.entries++
  hour.estimated += share.estimated
  hour.quantity += share.quantity ?? 0
  hour.amount_nanos += share.amount_nanos
  hour.input_tokens += share.input_tokens
  hour.output_tokens += share.output_tokens
  hour.cache_read_tokens += share.cache_read_tokens
  hour.cache_write_tokens += share.cache_write_tokens
}
