// Charges over a period, in rows by the requested keys. Sums of charges only; does not know who
// asks.
import { usageKeys } from '../../contract/caller-api.ts'
import { otherNames, shownName } from '../../contract/totals.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt } from '../../lib/text/month.ts'
import { mapInTurns } from '../../lib/turns.ts'
import type { Tx } from '../../store/index.ts'
import { dayMs, hourMs } from '../../store/proof/grains.ts'
import { type MoneyDimension, type MoneySum, sumMoney } from '../../store/proof/totals.ts'
import { type BillTotal, grouped, namesOf, totalOf } from '../bills/bill.ts'
import { sumBounded } from './bounded-sums.ts'

/** Keys for queries over several accounts. */
export const manyKeys = [...usageKeys, 'account', 'channel'] as const
export type UsageKey = (typeof manyKeys)[number]

export interface UsageRow extends Omit<BillTotal, 'quantity'> {
  month?: string
  day?: string
  hour?: string
  model?: string | null
  token_id?: string | null
  token?: string | null
  tier?: string | null
  price_id?: string | null
  account_id?: string
  /** For staff; null: not known. */
  channel?: string | null
  /** Null: charges without one. */
  tag?: string | null
  end_user?: string | null
  /** Null where the row sums several units; then there is no quantity either. */
  unit: string | null
  quantity: number | null
  /** For staff. What upstreams take, as far as it is known; charges less refunds less that. */
  cost?: string
  margin?: string
  /** Charges whose cost is not known. */
  cost_unknown?: number
}

export const dimensions: Readonly<Record<UsageKey, MoneyDimension>> = {
  month: 'hour',
  day: 'hour',
  hour: 'hour',
  model: 'model',
  unit: 'unit',
  token: 'token',
  tier: 'tier',
  price: 'price',
  account: 'account',
  channel: 'channel',
}

const at = ({ hourMs }: MoneySum): string => new Date(hourMs!).toISOString()

/** Value of a sum under a key. */
export const values: Readonly<Record<UsageKey, (sum: MoneySum) => string>> = {
  month: ({ hourMs }) => monthAt(hourMs!),
  day: (sum) => at(sum).slice(0, 10),
  hour: (sum) => `${at(sum).slice(0, 13)}:00:00Z`,
  model: ({ model }) => shownName(model!),
  unit: ({ unit }) => unit!,
  token: ({ tokenId }) => shownName(tokenId!),
  tier: ({ tier }) => shownName(tier!),
  price: ({ priceId }) => shownName(priceId!),
  account: ({ accountId }) => shownName(accountId!),
  channel: ({ channel }) => channel!,
}

export interface UsageQuestion {
  /** Absent: all accounts. */
  accountId?: string | undefined
  /** Whole hours, both. */
  fromMs: number
  untilMs: number
  by: readonly UsageKey[]
  /** Only charges of this token. */
  tokenId?: string | undefined
  /** With cost and margin, also of work that was not charged. */
  withCosts?: boolean | undefined
}

export interface Usage {
  /** Of all rows together. */
  total: UsageRow
  rows: UsageRow[]
}

/** Rows are in order of the keys, as requested. `sum` may be a cached version. */
export async function sumUsage(
  db: Tx,
  asked: UsageQuestion,
  sum: typeof sumMoney = sumMoney,
): Promise<Usage> {
  const { accountId, fromMs, untilMs, by, tokenId, withCosts } = asked
  // What differs between rows comes first: they are sorted by it, and most are of one kind.
  const wanted = new Set<MoneyDimension>([...by.map((key) => dimensions[key]), 'kind'])
  // The totals of an account are in order of the day and the kind, and the unit comes late.
  const withUnit = wanted.has('account') && !wanted.has('unit')
  if (!withUnit) wanted.add('unit')
  const query = { accountId, fromMs, untilMs, tokenId, by: [...wanted], withCosts, withUnit }
  const stepMs = by.includes('hour') ? hourMs : dayMs
  const charges = chargesOf(await sumBounded(db, query, sum, stepMs), withCosts)
  const names = by.includes('token') ? await namesOf(db, charges) : new Map<string, string>()
  const keyOf = (sum: MoneySum) => by.map((key) => values[key](sum))
  return {
    total: rowOf(charges, [], names, withCosts),
    rows: await mapInTurns(grouped(charges, keyOf), (group) => rowOf(group, by, names, withCosts)),
  }
}

/** Sums of charges; with costs, also what was refunded, and nothing else of a refund. */
export const chargesOf = (sums: readonly MoneySum[], withCosts: boolean | undefined): MoneySum[] =>
  sums.flatMap((sum) => {
    if (sum.kind === 'charge') return [sum]
    return withCosts === true && sum.kind === 'refund' ? [{ ...sum, ...noCharge }] : []
  })

const noCharge = { entries: 0, quantity: 0, amountNanos: 0n }

/** Charges less refunds less costs. */
function addMargin(row: Partial<UsageRow>, group: readonly MoneySum[]): void {
  let [costNanos, marginNanos, unknown] = [0n, 0n, 0]
  for (const sum of group) {
    costNanos += sum.costNanos
    marginNanos -= sum.amountNanos + sum.refundNanos + sum.costNanos
    unknown += sum.costUnknown
  }
  row.cost = formatNanos(costNanos)
  row.margin = formatNanos(marginNanos)
  row.cost_unknown = unknown
}

export function rowOf(
  group: readonly MoneySum[],
  by: readonly UsageKey[],
  names: ReadonlyMap<string, string>,
  withCosts?: boolean,
): UsageRow {
  const [first] = group
  const shown: Partial<UsageRow> = {}
  for (const key of by) {
    const value = values[key](first!)
    if (key === 'token') {
      shown.token_id = value || null
      shown.token = first!.tokenId === otherNames ? value : (names.get(value) ?? null)
    } else if (key === 'price') shown.price_id = value || null
    else if (key === 'account') shown.account_id = value
    else if (key === 'model' || key === 'tier' || key === 'channel') shown[key] = value || null
    else if (key !== 'unit') shown[key] = value
  }
  const isOneUnit = first?.unit !== undefined && group.every(({ unit }) => unit === first.unit)
  shown.unit = isOneUnit ? first.unit || null : null
  shown.quantity = null
  const row = Object.assign(shown, totalOf(group)) as UsageRow
  if (!isOneUnit) row.quantity = null
  if (withCosts === true) addMargin(row, group)
  return row
}
