// Durable charges per second, as a table and verdicts. Pure. Refuses to know how they were made.

import { formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

export interface LedgerFigures {
  engine: 'SQLite' | 'PostgreSQL'
  accounts: number
  inFlight: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Of the process that charges. */
  ownMicros: number
  /** Of the database server, where it is one. */
  serverMicros?: number
  /** Charges that one commit held. */
  perCommit?: number
}

/** Per second on SQLite, with enough in flight for commits to be shared. */
const leastPerSecond = 20_000

export function formatLedger(rows: readonly LedgerFigures[]): string {
  const heading = [
    'store',
    'accounts',
    'in flight',
    'charges/s',
    'p50 ms',
    'p99 ms',
    'own CPU us',
    'server CPU us',
    'charges/commit',
  ]
  const optional = (value: number | undefined) => (value === undefined ? '-' : formatNumber(value))
  const cells = rows.map((row) => [
    row.engine,
    String(row.accounts),
    String(row.inFlight),
    formatNumber(row.perSecond),
    formatNumber(row.p50Ms),
    formatNumber(row.p99Ms),
    formatNumber(row.ownMicros),
    optional(row.serverMicros),
    optional(row.perCommit),
  ])
  return formatTable([heading, ...cells], [0])
}

const most = (rows: readonly LedgerFigures[]): number =>
  Math.max(0, ...rows.map(({ perSecond }) => perSecond))

export function judgeLedger(rows: readonly LedgerFigures[]): Verdict[] {
  const sqlite = rows.filter(({ engine }) => engine === 'SQLite')
  const kinds = [...new Set(sqlite.map(({ accounts }) => accounts))]
  return kinds.map((accounts) => {
    const perSecond = most(sqlite.filter((row) => row.accounts === accounts))
    return {
      what: `durable charges on SQLite, ${accounts} account(s)`,
      limit: `>= ${formatNumber(leastPerSecond)}/s`,
      measured: `${formatNumber(perSecond)}/s`,
      met: perSecond >= leastPerSecond,
    }
  })
}
