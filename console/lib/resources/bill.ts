// Bills as the admin API shows them.
import type { BillLine } from '../../../src/admin/money/bill-schema.ts'
import type { Outcome } from '../../../src/admin/money/statement-schema.ts'
import type { UsageRow } from '../../../src/admin/traffic/traffic-schema.ts'

export type { Bill, MonthRow } from '../../../src/admin/money/bill-schema.ts'
export type {
  ImportedStatement as Statement,
  Outcome,
  OutcomeSum,
  StatementLine,
} from '../../../src/admin/money/statement-schema.ts'

/** Of a bill asked for by day. */
export type DayRow = UsageRow & Required<Pick<UsageRow, 'day' | 'model'>>

/** Holds and their releases are not on a bill. */
export type Line = BillLine & { kind: Exclude<BillLine['kind'], 'hold' | 'release'> }

/** What does not match comes first. */
export const outcomes = [
  'amount_differs',
  'quantity_differs',
  'upstream_only',
  'gateway_only',
  'loss',
  'matched',
] as const satisfies readonly Outcome[]
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
