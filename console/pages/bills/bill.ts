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

export interface Statement {
  id: string
  at: string
  name: string
  channel: string
  outcomes?: Record<string, { lines: number; amount?: string | null }>
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
