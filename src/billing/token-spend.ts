// Charges per token over the last days, from the daily totals. Never reads the log.
import type { Tx } from '../store/index.ts'
import { sumDailyTotals } from '../store/proof/daily-totals.ts'
import { hourMs } from '../store/proof/hourly-totals.ts'

const dayMs = 24 * hourMs
/** Today and the days before it, by UTC. */
const spendDays = 30

export interface TokenSpend {
  nanos: bigint
  /** Days with a charge, oldest first. */
  days: { atMs: number; nanos: bigint }[]
  /** The hour of the last charge if that was today, else its day. */
  lastMs: number
}

/** By token id; tokens without charges are omitted. */
export async function tokenSpends(
  db: Tx,
  nowMs: number,
  accountId?: string,
): Promise<Map<string, TokenSpend>> {
  const todayMs = nowMs - (nowMs % dayMs)
  const of = { accountId, fromMs: todayMs - (spendDays - 1) * dayMs, untilMs: todayMs }
  const before = await sumDailyTotals(db, { ...of, by: ['kind', 'token'] })
  const now = { accountId, fromMs: todayMs, untilMs: todayMs + dayMs }
  const today = await sumDailyTotals(db, { ...now, by: ['kind', 'token', 'hour'] })
  const spends = new Map<string, TokenSpend>()
  for (const { atMs, sums } of [...before, ...today]) {
    for (const { kind, tokenId = '', amountNanos, hourMs: lastMs = atMs } of sums) {
      // A charge is negative in the ledger.
      if (kind === 'charge') add(spends, tokenId, atMs, -amountNanos, lastMs)
    }
  }
  return spends
}

function add(
  spends: Map<string, TokenSpend>,
  tokenId: string,
  atMs: number,
  nanos: bigint,
  lastMs: number,
): void {
  const spend = spends.get(tokenId) ?? { nanos: 0n, days: [], lastMs: 0 }
  spends.set(tokenId, spend)
  spend.nanos += nanos
  spend.lastMs = Math.max(spend.lastMs, lastMs)
  const last = spend.days.at(-1)
  if (last?.atMs === atMs) last.nanos += nanos
  else spend.days.push({ atMs, nanos })
}
