// gateway audit and gateway audit-log: do the books agree, and who changed what.
import { type Command, pageFlags } from './command.ts'
import { list } from './legacy-list.ts'
import { cell, column, nameOf, numberColumn, type Row, rowOf, rowsOf, table } from './show.ts'

const countOf = (value: unknown): string => cell(Array.isArray(value) ? value.length : value)
const some = (value: unknown, one: string, many: string): string => {
  const count = countOf(value)
  return `${count} ${count === '1' ? one : many}`
}

function auditText(answer: unknown): string {
  const row = rowOf(answer)
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

/** The earliest entry of an account comes first: that is where to look. */
const problemColumns = [
  { title: 'account', value: (row: Row) => nameOf(row['account'] ?? row['account_id']) },
  numberColumn('entry'),
  numberColumn('number', 'receipt'),
  column('ref', 'for'),
  column('problem'),
]

/** Where no row says anything, there is no column. */
const columnsFor = (problems: readonly Row[]) =>
  problemColumns.filter(
    ({ title, value }) => title === 'account' || problems.some((row) => value(row) !== '-'),
  )

const checkColumns = [
  column('check'),
  column('proves'),
  {
    title: 'result',
    value: (row: Row) => (row['problems'] === 0 ? 'ok' : `${cell(row['problems'])} wrong`),
  },
]

export const auditCommands: readonly Command[] = [
  {
    path: ['audit'],
    args: [],
    summary: 'prove the books: every balance, charge, hold and receipt from the entries',
    flags: { account: { value: 'ID|NAME', summary: 'of this account alone' } },
    async run({ admin, line }) {
      const query = { account: line.text('account') }
      const answer = await admin.ask('POST', '/audit', { query })
      return { answer, text: auditText(answer), ok: rowOf(answer)['ok'] === true }
    },
  },
  {
    path: ['audit-log'],
    args: [],
    summary: 'who changed what, before and after',
    flags: pageFlags,
    run: (context) =>
      list(context, {
        path: '/audit-log',
        what: 'changes',
        columns: [
          column('at'),
          { title: 'who', value: (row) => cell(row['actor'] ?? row['who']) },
          column('action'),
          { title: 'what', value: (row) => cell(row['target'] ?? row['subject'] ?? row['what']) },
          column('before'),
          column('after'),
        ],
      }),
  },
]
