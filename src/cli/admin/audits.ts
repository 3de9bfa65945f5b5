// gateway audit and gateway audit-log: do the books agree, and who changed what.
import {
  auditCheck,
  auditLogQuery,
  auditProblem,
  auditQuery,
  auditRow,
} from '../../admin/money/audit-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf, filtersOf, flagsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, rowsOf, table } from '../terminal/show.ts'

const countOf = (value: unknown): string => cell(Array.isArray(value) ? value.length : value)
const some = (value: unknown, one: string, many: string): string => {
  const count = countOf(value)
  return `${count} ${count === '1' ? one : many}`
}

function auditText(row: Row): string {
  const accounts = some(row['accounts'], 'account', 'accounts')
  const scope = `${accounts}, ${some(row['entries'], 'entry', 'entries')} recomputed`
  const problems = rowsOf(row['problems'])
  const head =
    row['ok'] === true
      ? `ok: ${scope}${provenText(row)}`
      : `not ok: ${scope}, ${some(problems, 'problem', 'problems')}`
  const parts = [head]
  const checks = rowsOf(row['checks'])
  if (problems.length > 0) parts.push('', table(problems, columnsFor(problems)))
  if (checks.length > 0) parts.push('', table(checks, checkColumns))
  return parts.join('\n')
}

function provenText(row: Row): string {
  if (row['receipts'] === undefined) return ''
  const seconds = (Number(row['took_ms']) / 1000).toFixed(1)
  const receipts = some(row['receipts'], 'receipt', 'receipts')
  return `, ${receipts} and ${some(row['seals'], 'seal', 'seals')} proven in ${seconds} s`
}

const problemColumns = columnsOf(auditProblem, {
  account: (row) => cell(row['account'] ?? row['account_id']),
})

/** Where no row says anything, there is no column. */
const columnsFor = (problems: readonly Row[]) =>
  problemColumns.filter(
    ({ title, value }) => title === 'account' || problems.some((row) => value(row) !== '-'),
  )

const checkColumns = columnsOf(auditCheck, {
  result: (row) => (row['problems'] === 0 ? 'ok' : `${cell(row['problems'])} wrong`),
}).map(({ right: _, ...column }) => column)

export const auditCommands: readonly Command[] = [
  askCommand({
    path: ['audit'],
    summary: 'audit the books: every balance, charge, hold and receipt from the entries',
    flags: flagsOf(auditQuery),
    call: 'POST /audit',
    query: ({ line }) => filtersOf(auditQuery, line),
    text: auditText,
    ok: ({ ok }) => ok === true,
  }),
  listCommand(
    { path: ['audit-log'], summary: 'who changed what, before and after' },
    { path: '/audit-log', what: 'changes', item: auditRow, query: auditLogQuery },
  ),
]
