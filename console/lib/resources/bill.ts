// Bills as the admin API shows them.
export interface MonthRow {
  account: string
  month: string
  state: 'open' | 'closed'
  closed_at: string | null
  opening_balance: string
  credits: string
  adjustments: string
  charges: string
  closing_balance: string
  charge_count: number
}

export interface Bill extends MonthRow {
  currency: string
  totals: {
    model: string | null
    unit: string | null
    charges: number
    quantity: number
    amount: string
    estimated: number
  }[]
  tokens: { token_id: string | null; name: string | null; charges: number; amount: string }[]
  movements: {
    id: string
    at: string
    kind: 'credit' | 'adjust'
    amount: string
    note: string | null
  }[]
}

export interface Line {
  id: string
  at: string
  kind: 'charge' | 'credit' | 'adjust'
  amount: string
  request_id: string | null
  task_id: string | null
  model: string | null
  unit: string | null
  quantity: number | null
  number?: number | null
}

/** Of a bill asked for by day. */
export interface DayRow {
  day: string
  model: string | null
  unit: string | null
  charges: number
  amount: string
}

export const outcomes = [
  'matched',
  'quantity_differs',
  'amount_differs',
  'loss',
  'gateway_only',
  'upstream_only',
] as const
export type Outcome = (typeof outcomes)[number]

interface OutcomeSum {
  lines: number
  amount: string
  our_amount: string
}

export interface Statement {
  id: string
  at: string
  name: string
  channel: string
  from: string
  to: string
  currency: string
  lines: number
  outcomes: Record<Outcome, OutcomeSum>
  warnings?: string[]
}

export interface StatementLine {
  line: number
  outcome: Outcome
  at: string | null
  model: string | null
  upstream_id: string | null
  quantity: number | null
  amount: string | null
  our_quantity: number | null
  our_amount: string | null
  ref: string | null
  loss: string | null
}

/** The page that shows what was done under this id. */
export function pageOf(ref: string | null): string | undefined {
  if (ref === null) return undefined
  if (ref.startsWith('req_')) return `/requests?open=${ref}`
  return /^(?:video|image|task)_/.test(ref) ? `/tasks?open=${ref}` : undefined
}

/** Every day of a month, as rows name them. */
export function daysOf(month: string): string[] {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate()
  return Array.from({ length: last }, (_, i) => `${month}-${String(i + 1).padStart(2, '0')}`)
}

/** This month, by UTC. */
export const thisMonth = (): string => new Date().toISOString().slice(0, 7)

/** The last so many months, newest first. */
export function lastMonths(count: number): string[] {
  const now = new Date()
  return Array.from({ length: count }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  )
}
