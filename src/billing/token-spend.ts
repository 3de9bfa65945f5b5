// Charges per token over the last days, from the daily totals. Never reads the log.
import type { Tx } from '../store/index.ts'
import { dayMs } from '../store/proof/grains.ts'
import { sumDays, sumMoney } from '../store/proof/totals.ts'

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
  const by = ['kind', 'token', 'hour'] as const
  const fromMs = todayMs - (spendDays - 1) * dayMs
  const before = await sumDays(db, { accountId, fromMs, untilMs: todayMs, by })
  const untilMs = todayMs + dayMs
  const today = await sumMoney(db, { accountId, fromMs: todayMs, untilMs, by })
  const spends = new Map<string, TokenSpend>()
  for (const { kind, tokenId = '', amountNanos, hourMs: lastMs = 0 } of [...before, ...today]) {
    // A charge is negative in the ledger.
    if (kind === 'charge') add(spends, tokenId, -amountNanos, lastMs)
  }
  return spends
}

function add(
  spends: Map<string, TokenSpend>,
  tokenId: string,
  nanos: bigint,
  lastMs: number,
): void {
  const spend = spends.get(tokenId) ?? { nanos: 0n, days: [], lastMs: 0 }
  spends.set(tokenId, spend)
  spend.nanos += nanos
  spend.lastMs = Math.max(spend.lastMs, lastMs)
  const atMs = lastMs - (lastMs % dayMs)
  const last = spend.days.at(-1)
  if (last?.atMs === atMs) last.nanos += nanos
  else spend.days.push({ atMs, nanos })
}
