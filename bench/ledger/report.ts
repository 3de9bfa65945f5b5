// Durable charges per second, as a table and verdicts. Pure. Refuses to know how they were made.

import { type Columns, check, formatRows, type Verdict } from '../lib/report.ts'

export interface LedgerFigures {
  store: 'SQLite' | 'PostgreSQL'
  accounts: number
  inFlight: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Of the process that charges. */
  ownMicros: number
  /** Of the database server, where there is one. */
  serverMicros?: number
  /** Charges in one commit. */
  perCommit?: number
}

const columns: Columns<LedgerFigures> = {
  store: (row) => row.store,
  accounts: (row) => row.accounts,
  'in flight': (row) => row.inFlight,
  'charges/s': (row) => row.perSecond,
  'p50 ms': (row) => row.p50Ms,
  'p99 ms': (row) => row.p99Ms,
  'own CPU us': (row) => row.ownMicros,
  'server CPU us': (row) => row.serverMicros,
  'charges/commit': (row) => row.perCommit,
}

export const formatLedger = (rows: readonly LedgerFigures[]): string => formatRows(columns, rows)

/** The best slice counts: the one with enough charges in flight to share commits. */
export function checkLedger(rows: readonly LedgerFigures[]): Verdict[] {
  const byAccounts = Map.groupBy(
    rows.filter(({ store }) => store === 'SQLite'),
    ({ accounts }) => accounts,
  )
  return [...byAccounts].map(([accounts, slices]) =>
    check({
      label: `durable charges on SQLite, ${accounts} account(s)`,
      value: Math.max(...slices.map(({ perSecond }) => perSecond)),
      limit: '>= 20000/s',
    }),
  )
}
