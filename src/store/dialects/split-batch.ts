// Splits a batch by account, and joins parts of one account again. Needed only while an account is
// locked.
import {
  type Batch,
  entryColumns,
  lossColumns,
  type Part,
  type Rows,
  requestColumns,
} from './group-commit.ts'
import { cellsOf, rowOf } from './group-commit-rows.ts'

/** Accounts in a batch whose balance moves. */
export const payersOf = ({ entries }: Rows): string[] => [
  ...new Set(rowsOf(entries, entryColumns).map(({ accountId }) => accountId)),
]

/** The records of these accounts, separately, and the rest. */
export function splitBatch(
  batch: Batch,
  accountIds: ReadonlySet<string>,
): { rest: Batch; parts: Part[] } {
  const { sinceMs } = batch
  const rest = { size: 0, requests: '', entries: '', losses: '', sinceMs, fates: batch.fates }
  const parts = new Map<string, Part>()
  const rowsFor = (accountId: string): Rows => {
    const fate = batch.fates.get(accountId)
    if (fate === undefined || !accountIds.has(accountId)) return rest
    let part = parts.get(accountId)
    if (part === undefined) {
      part = { size: 0, requests: '', entries: '', losses: '', sinceMs, accountId, fate }
      parts.set(accountId, part)
    }
    return part
  }
  for (const { accountId, text } of rowsOf(batch.requests, requestColumns)) {
    const rows = rowsFor(accountId)
    rows.size++
    rows.requests += text
  }
  for (const { accountId, text } of rowsOf(batch.entries, entryColumns)) {
    rowsFor(accountId).entries += text
  }
  for (const { accountId, text } of rowsOf(batch.losses, lossColumns)) {
    rowsFor(accountId).losses += text
  }
  return { rest, parts: [...parts.values()] }
}

/** As old as the oldest of them. */
export function joinParts(parts: readonly Part[]): Rows {
  const rows = { size: 0, requests: '', entries: '', losses: '', sinceMs: Infinity }
  for (const part of parts) {
    rows.size += part.size
    rows.requests += part.requests
    rows.entries += part.entries
    rows.losses += part.losses
    rows.sinceMs = Math.min(rows.sinceMs, part.sinceMs)
  }
  return rows
}

function rowsOf(text: string, columns: readonly string[]): { accountId: string; text: string }[] {
  const cells = cellsOf(text)
  const account = columns.indexOf('account_id')
  const rows: { accountId: string; text: string }[] = []
  for (let at = 0; at < cells.length; at += columns.length) {
    const row = cells.slice(at, at + columns.length)
    rows.push({ accountId: row[account]!, text: rowOf(row) })
  }
  return rows
}
