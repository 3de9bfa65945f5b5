// Sums of receipted entries as Kysely sees them; a part of schema.ts. The empty string stands for an
// absent value.
import type { EntryKind } from '../contract/ledger.ts'

interface Sums {
  account_id: string
  token_id: string
  model: string
  unit: string
  entries: number
  estimated: number
  quantity: number
  amount_nanos: bigint
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  /** What upstreams take for the work; of charges whose cost is not known, their number. */
  cost_nanos: bigint
  cost_unknown: number
  refund_nanos: bigint
}

interface Totals extends Sums {
  kind: EntryKind
  tier: string
  price_id: string
}

export interface TotalTables {
  hourly_totals: Totals & {
    hour_ms: number
    /** Lower bound of a size class of whole inputs; 0 without input. */
    input_bucket: number
  }
  /** Days by UTC. */
  daily_totals: Totals & { day_ms: number }
  /** Names that have totals of their own in a month: models under '', values of tags under their name. */
  total_names: { account_id: string; month: string; name: string; value: string }
  /** Charges and refunds by tag. */
  tag_totals: Sums & {
    hour_ms: number
    /** `@`: the end user. */
    name: string
    /** `*`: all values beyond the maximum of a month. */
    value: string
  }
  /** Charges and refunds by the channel that served the work; '' where that is not known. Days by UTC. */
  channel_totals: Omit<Sums, 'token_id'> & { day_ms: number; channel: string }
  /** The same by month. */
  monthly_totals: Omit<Totals, 'kind'> & { month_ms: number; channel: string }
  /** The same by day, of all accounts together, in parts that are summed by the reader. */
  overall_totals: Omit<Sums, 'token_id' | 'account_id'> & {
    day_ms: number
    channel: string
    slot: number
  }
}
