// Totals of entries by grain: hour, day, hour by tag, by channel day and month, and the day of all accounts together. What each
// table is keyed by, and the columns that all of them sum. The empty string stands for an absent value.

export const hourMs = 3_600_000
export const dayMs = 86_400_000

export interface Grain {
  readonly table:
    | 'hourly_totals'
    | 'daily_totals'
    | 'tag_totals'
    | 'channel_totals'
    | 'monthly_totals'
    | 'overall_totals'
  readonly time: 'hour_ms' | 'day_ms' | 'month_ms'
  readonly keys: readonly string[]
}

const ofEntry = ['kind', 'token_id', 'model', 'unit', 'tier', 'price_id'] as const

export const grains = {
  hour: {
    table: 'hourly_totals',
    time: 'hour_ms',
    keys: ['account_id', 'hour_ms', ...ofEntry, 'input_bucket'],
  },
  day: { table: 'daily_totals', time: 'day_ms', keys: ['account_id', 'day_ms', ...ofEntry] },
  tag: {
    table: 'tag_totals',
    time: 'hour_ms',
    keys: ['account_id', 'hour_ms', 'name', 'value', 'token_id', 'model', 'unit'],
  },
  // By day first: questions about all accounts sum rows in the order in which they are stored.
  channel: {
    table: 'channel_totals',
    time: 'day_ms',
    keys: ['day_ms', 'channel', 'model', 'unit', 'account_id'],
  },
  month: {
    table: 'monthly_totals',
    time: 'month_ms',
    keys: [
      ...['month_ms', 'account_id', 'channel', 'model', 'unit'],
      ...(['token_id', 'tier', 'price_id'] as const),
    ],
  },
  // Of all accounts together. Gateways add to rows of different slots, so that none waits for the commit of another.
  overall: {
    table: 'overall_totals',
    time: 'day_ms',
    keys: ['day_ms', 'channel', 'model', 'unit', 'slot'],
  },
} as const satisfies Record<string, Grain>

export type GrainName = keyof typeof grains
export const grainNames = Object.keys(grains) as GrainName[]

export const sumColumns = [
  'quantity',
  'amount_nanos',
  'entries',
  'estimated',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_nanos',
  'cost_unknown',
  'refund_nanos',
] as const

export const columnsOf = ({ keys }: Grain): readonly string[] => [...keys, ...sumColumns]

/** In `meta`: the newest month with totals whose tokens, tiers and prices are not known. Absent: there is none. */
export const namedMonthsKey = 'months_without_tokens_until'

/** The beginning of the month of a moment, by UTC, or of one so many after it. */
export function monthStart(ms: number, plus = 0): number {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + plus)
}

/** What follows the values of an insert. */
export const adding = ({ table, keys }: Grain): string =>
  `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${sumColumns
    .map((name) => `${name} = ${table}.${name} + excluded.${name}`)
    .join(', ')}`

/**
 * Size classes of whole inputs: a class is named by its lower bound (exclusive) and reaches the
 * next bound (inclusive), so that the usual bounds of price tiers are bounds here.
 */
export const inputBuckets = [
  0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 200_000, 256_000, 512_000,
  1_000_000,
] as const

export const inputBucketOf = (inputTokens: number): number =>
  inputBuckets.findLast((bound) => inputTokens > bound) ?? 0
