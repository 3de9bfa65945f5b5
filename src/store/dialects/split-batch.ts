// Splits a batch by account, and joins parts of one account again. Needed only while an account is
// locked.
import { callColumns, cell } from '../rows/call-row.ts'
import type { Batch, Part, Rows } from './group-commit.ts'
import { cellsOf, lossColumns, rowOf } from './group-commit-rows.ts'

/** Accounts in a batch whose balance moves. */
export const payersOf = ({ requests }: Rows): string[] => [
  ...new Set(
    rowsOf(requests, callColumns)
      .filter(({ cells }) => cells[cell.booked_at_ms] !== '')
      .map(({ accountId }) => accountId),
  ),
]

/** The records of these accounts, separately, and the rest. */
export function splitBatch(
  batch: Batch,
  accountIds: ReadonlySet<string>,
): { rest: Batch; parts: Part[] } {
  const { sinceMs } = batch
  const rest = { size: 0, requests: '', losses: '', sinceMs, fates: batch.fates }
  const parts = new Map<string, Part>()
  const rowsFor = (accountId: string): Rows => {
    const fate = batch.fates.get(accountId)
    if (fate === undefined || !accountIds.has(accountId)) return rest
    let part = parts.get(accountId)
    if (part === undefined) {
      part = { size: 0, requests: '', losses: '', sinceMs, accountId, fate }
      parts.set(accountId, part)
    }
    return part
  }
  for (const { accountId, text } of rowsOf(batch.requests, callColumns)) {
    const rows = rowsFor(accountId)
    rows.size++
    rows.requests += text
  }
  for (const { accountId, text } of rowsOf(batch.losses, lossColumns)) {
    rowsFor(accountId).losses += text
  }
  return { rest, parts: [...parts.values()] }
}

/** As old as the oldest of them. */
export function joinParts(parts: readonly Part[]): Rows {
  const rows = { size: 0, requests: '', losses: '', sinceMs: Infinity }
  for (const part of parts) {
    rows.size += part.size
    rows.requests += part.requests
    rows.losses += part.losses
    rows.sinceMs = Math.min(rows.sinceMs, part.sinceMs)
  }
  return rows
}

function rowsOf(text: string, columns: readonly string[]) {
  const all = cellsOf(text)
  const account = columns.indexOf('account_id')
  const rows: { accountId: string; cells: readonly string[]; text: string }[] = []
  for (let at = 0; at < all.length; at += columns.length) {
    const cells = all.slice(at, at + columns.length)
    rows.push({ accountId: cells[account]!, cells, text: rowOf(cells) })
  }
  return rows
}
