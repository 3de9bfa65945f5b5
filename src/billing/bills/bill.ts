// A month of one account as a bill, from the ledger as it is now: opening balance, credits, cost
// per model and token, closing balance. Knows no response format beyond its own, closes nothing.
import { maxTotalNames, otherNames, shownName } from '../../contract/totals.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { namesOfTokens } from '../../store/catalog/tokens.ts'
import type { Tx } from '../../store/index.ts'
import { listMovements } from '../../store/ledger/bills.ts'
import { type ClosedMonth, lastClosedBefore } from '../../store/ledger/closed-months.ts'
import { topNames } from '../../store/proof/top-names.ts'
import { type MoneyQuery, type MoneySum, sumMoney } from '../../store/proof/totals.ts'

export interface BillTotal {
  charges: number
  quantity: number
  amount: string
  /** Number of estimated charges. */
  estimated: number
  /** Text models only. */
  input_tokens?: number
  output_tokens?: number
  cache_read_tokens?: number
  cache_write_tokens?: number
}

interface BillMovement {
  id: string
  at: string
  kind: 'credit' | 'adjust' | 'refund'
  amount: string
  note: string | null
  /** Of a refund: the request or task whose charge was given back. */
  refund_of?: string
}

/** As sent over the wire, and as stored when its month is closed. */
export interface Bill {
  account: string
  account_id: string
  month: string
  currency: string
  opening_balance: string
  credits: string
  adjustments: string
  charges: string
  /** Given back of charges, of this month or an earlier one; absent in bills that 0.3 closed. */
  refunds?: string
  closing_balance: string
  /** Number of charges. */
  charge_count: number
  totals: ({ model: string | null; unit: string | null } & BillTotal)[]
  tokens: { token_id: string | null; name: string | null; charges: number; amount: string }[]
  movements: BillMovement[]
  /** There are more credits, adjustments and refunds than listed here; the lines include all. */
  has_more_movements: boolean
}

export interface BillOf {
  accountId: string
  account: string
  month: string
  currency: string
}

/** Credits, adjustments and refunds listed on a bill. */
const maxMovements = 1_000

/** All reads of `db` must see the same moment, so that its parts add up even while the month is running. */
export async function makeBill(db: Tx, of: BillOf): Promise<Bill> {
  const { accountId, account, month, currency } = of
  const stretch = { accountId, ...monthBounds(month)! }
  const openingNanos = await balanceBefore(db, accountId, month)
  const sums = await sumNames(db, { ...stretch, by: ['kind', 'model', 'unit'] }, 'model')
  const charges = sums.filter(({ kind }) => kind === 'charge')
  const byToken = await sumNames(db, { ...stretch, by: ['kind', 'token'] }, 'token')
  const movements = await listMovements(db, stretch, maxMovements + 1)
  return {
    account,
    account_id: accountId,
    month,
    currency,
    ...figuresOf(openingNanos, sums),
    charge_count: charges.reduce((sum, { entries }) => sum + entries, 0),
    totals: [...grouped(charges, ({ model, unit }) => [shownName(model!), unit])].map((of) => ({
      model: shownName(of[0]!.model!) || null,
      unit: of[0]!.unit || null,
      ...totalOf(of),
    })),
    tokens: await tokensOf(
      db,
      byToken.filter(({ kind }) => kind === 'charge'),
    ),
    movements: movements.slice(0, maxMovements).map((each) => ({
      id: String(each.id),
      at: new Date(each.atMs).toISOString(),
      kind: each.kind,
      amount: formatNanos(each.amountNanos),
      note: each.note,
      ...(each.refundOf !== null && { refund_of: each.refundOf }),
    })),
    has_more_movements: movements.length > maxMovements,
  }
}

/** Names beyond the maximum of a bill are one, those with the smallest charges. */
async function sumNames(
  db: Tx,
  query: MoneyQuery,
  dimension: 'model' | 'token',
): Promise<MoneySum[]> {
  const kinds = query.by.length * maxTotalNames
  const sums = await sumMoney(db, { ...query, limit: kinds + 1 })
  const names = new Set(sums.map(({ model, tokenId }) => (dimension === 'model' ? model : tokenId)))
  if (sums.length <= kinds && names.size <= maxTotalNames + 1) return sums
  const kept = { [dimension]: await topNames(db, dimension, query, maxTotalNames) }
  return sumMoney(db, { ...query, kept })
}

export interface Figures {
  opening_balance: string
  credits: string
  adjustments: string
  charges: string
  refunds: string
  closing_balance: string
}

/** The six figures at the top of a bill; `sums` must be grouped by kind. */
export function figuresOf(openingNanos: bigint, sums: readonly MoneySum[]): Figures {
  const total = (kind: MoneySum['kind']) => sumOf(sums.filter((each) => each.kind === kind))
  return {
    opening_balance: formatNanos(openingNanos),
    credits: formatNanos(total('credit')),
    adjustments: formatNanos(total('adjust')),
    // The cost of a month is shown without a sign.
    charges: formatNanos(-total('charge')),
    refunds: formatNanos(total('refund')),
    closing_balance: formatNanos(openingNanos + sumOf(sums)),
  }
}

/**
 * An account's balance at the start of a month: the closing balance of the last closed month before
 * it, plus movements since. Reading a closed month verifies its closing balance.
 */
async function balanceBefore(db: Tx, accountId: string, month: string): Promise<bigint> {
  return balanceFrom(db, accountId, month, await lastClosedBefore(db, accountId, month))
}

export async function balanceFrom(
  db: Tx,
  accountId: string,
  month: string,
  closed: ClosedMonth | undefined,
  /** Dashboards may pass a cached version. */
  sum: typeof sumMoney = sumMoney,
): Promise<bigint> {
  const untilMs = monthBounds(month)!.fromMs
  const fromMs = closed === undefined ? 0 : monthBounds(closed.month)!.untilMs
  const before = closed === undefined ? 0n : closingNanosOf(closed)
  if (fromMs === untilMs) return before
  return before + sumOf(await sum(db, { accountId, fromMs, untilMs, by: [] }))
}

export const billIn = ({ body }: ClosedMonth): Bill => JSON.parse(body) as Bill

export const closingNanosOf = (closed: ClosedMonth): bigint =>
  nanosOf(billIn(closed).closing_balance)

/** The inverse of formatNanos, of any size. */
export function nanosOf(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const nanos = BigInt(`${whole}${fraction.padEnd(9, '0')}`)
  return text.startsWith('-') ? -nanos : nanos
}

export const sumOf = (sums: readonly MoneySum[]): bigint =>
  sums.reduce((sum, { amountNanos }) => sum + amountNanos, 0n)

/** Sums grouped by all parts of the key, in key order. */
export function grouped(
  sums: readonly MoneySum[],
  keyOf: (sum: MoneySum) => readonly unknown[],
): MoneySum[][] {
  const groups = new Map<string, MoneySum[]>()
  for (const each of sums) {
    const key = JSON.stringify(keyOf(each))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}

/** Seconds are the only fractions; their sum must not show rounding noise. */
const quantityPlaces = 6

export function totalOf(sums: readonly MoneySum[]): BillTotal {
  let [charges, quantity, estimated, input, output, read, written] = [0, 0, 0, 0, 0, 0, 0]
  let hasTokens = false
  for (const sum of sums) {
    charges += sum.entries
    quantity += sum.quantity
    estimated += sum.estimated
    input += sum.inputTokens
    output += sum.outputTokens
    read += sum.cacheReadTokens
    written += sum.cacheWriteTokens
    hasTokens ||= sum.hasTokens ?? sum.unit === 'token'
  }
  const total: BillTotal = {
    charges,
    quantity: Number.isInteger(quantity) ? quantity : Number(quantity.toFixed(quantityPlaces)),
    amount: formatNanos(-sumOf(sums)),
    estimated,
  }
  if (hasTokens) {
    total.input_tokens = input
    total.output_tokens = output
    total.cache_read_tokens = read
    total.cache_write_tokens = written
  }
  return total
}

async function tokensOf(db: Tx, charges: readonly MoneySum[]): Promise<Bill['tokens']> {
  const groups = grouped(charges, ({ tokenId }) => [tokenId])
  const names = await namesOf(db, charges)
  return groups.map((of) => {
    const id = of[0]!.tokenId!
    const { charges, amount } = totalOf(of)
    if (id === otherNames) return { token_id: null, name: shownName(id), charges, amount }
    return { token_id: id || null, name: names.get(id) ?? null, charges, amount }
  })
}

/** Names of the tokens of these sums; very old charges have none. */
export async function namesOf(db: Tx, sums: readonly MoneySum[]): Promise<Map<string, string>> {
  const ids = [...new Set(sums.map(({ tokenId }) => tokenId ?? ''))].filter((id) => id !== '')
  const names = new Map<string, string>()
  for (let at = 0; at < ids.length; at += namesAtOnce) {
    const found = await namesOfTokens(db, ids.slice(at, at + namesAtOnce))
    for (const [id, { token }] of found) names.set(id, token)
  }
  return names
}

const namesAtOnce = 1_000
