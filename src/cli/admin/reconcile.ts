// gateway reconcile and gateway statement: an upstream's statement against the gateway's records.
import {
  lineQuery,
  statement,
  statementLine,
  statementQuery,
} from '../../admin/money/statement-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import {
  cell,
  column,
  moneyColumn,
  numberColumn,
  type Row,
  rowOf,
  table,
} from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

/** What each outcome means, for a person. */
const meanings: readonly (readonly [outcome: string, meaning: string])[] = [
  ['matched', 'both say the same'],
  ['amount_differs', 'same quantity, another amount'],
  ['quantity_differs', 'known here, in another quantity'],
  ['loss', 'billed there, borne by the operator here'],
  ['upstream_only', 'billed there, unknown here'],
  ['gateway_only', 'used here, not billed there'],
]

function summaryText(statement: Row): string {
  const { currency } = statement
  const outcomes = rowOf(statement['outcomes'])
  const rows = meanings.map(([outcome, meaning]): Row => {
    const row = rowOf(outcomes[outcome])
    return { ...row, outcome: outcome.replace('_', ' '), meaning, currency }
  })
  const day = (name: string) => cell(statement[name]).replace(/T00:00:00\.000Z$/, '')
  const map = Object.entries(rowOf(statement['map'])).map(([field, header]) => `${field}=${header}`)
  const lines = [
    `${cell(statement['id'])}  ${cell(statement['name'])}`,
    `channel ${cell(statement['channel'])}, ${day('from')} to ${day('to')}, ` +
      `${cell(statement['lines'])} lines  (${printableMap(map)})`,
  ]
  if (statement['cost_factor'] === null) {
    lines.push(
      'amounts are compared with costs; where none is known, --cost-factor says what the upstream charges for 1.00 of the gateway price',
    )
  }
  const shown = table(
    rows.filter(({ lines }) => lines !== 0),
    [
      column('outcome'),
      numberColumn('lines'),
      numberColumn('quantity', 'their quantity'),
      numberColumn('our_quantity', 'our quantity'),
      moneyColumn('amount', 'their amount'),
      moneyColumn('our_amount', 'our amount'),
      column('meaning'),
    ],
  )
  const warnings = Array.isArray(statement['warnings']) ? statement['warnings'] : []
  const notes = warnings.map((warning) => `note: ${cell(warning)}`)
  return [lines.join('\n'), shown, ...notes].join('\n\n')
}

const printableMap = (map: readonly string[]) => cell(map.join(', '))

/** `id=Request ID,amount=Cost` as the gateway takes it. */
function mapOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const pairs = text.split(',').map((pair): [string, string] => {
    const at = pair.indexOf('=')
    if (at < 1 || at === pair.length - 1) {
      throw misuse(`--map takes FIELD=COLUMN,FIELD=COLUMN; not '${pair}'`)
    }
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
  return JSON.stringify(Object.fromEntries(pairs))
}

async function reconcile({ line, admin }: Context): Promise<Outcome> {
  const path = line.arg(0)
  const file = Bun.file(path)
  if (!(await file.exists())) throw misuse(`there is no file ${path}`)
  const charset = line.text('charset') ?? 'utf-8'
  const response = await admin.open('POST', '/statements', {
    query: {
      channel: line.text('channel'),
      name: line.text('name') ?? path.replace(/^.*\//, ''),
      map: mapOf(line.text('map')),
      zone: line.text('zone'),
      dates: line.text('dates'),
      decimal: line.on('decimal-comma') ? ',' : undefined,
      from: line.text('from'),
      to: line.text('to'),
      cost_factor: line.text('cost-factor'),
      tolerance: line.text('tolerance'),
    },
    body: new Blob([file], { type: `text/csv; charset=${charset}` }),
  })
  const answer = await response.json()
  return { answer, text: summaryText(rowOf(answer)) }
}

export const reconcileCommands: readonly Command[] = [
  {
    path: ['reconcile'],
    args: ['FILE'],
    summary: "compare an upstream's statement (CSV) with what the gateway recorded",
    flags: {
      channel: { value: 'NAME', summary: 'whose statement it is', required: true },
      name: { value: 'NAME', summary: 'what to call it (the name of the file)' },
      map: {
        value: 'FIELD=COLUMN,…',
        summary: 'which column is the id, at, model, quantity (A+B adds up) or amount',
      },
      zone: { value: 'OFFSET', summary: 'of times that name none, such as +08:00 (UTC)' },
      dates: { value: 'dmy|mdy', summary: 'how days like 03/04/2026 are meant' },
      'decimal-comma': { summary: 'numbers are written as 1.234,56' },
      charset: { value: 'NAME', summary: 'such as gb18030 (utf-8)' },
      from: { value: 'DAY', summary: 'the period, where it is not that of the lines' },
      to: { value: 'DAY', summary: 'its end' },
      'cost-factor': {
        value: 'SHARE',
        summary:
          'what the upstream charges for 1.00 of the gateway price; amounts are then compared, too',
      },
      tolerance: { value: 'SHARE', summary: 'by which amounts may differ (0.01)' },
    },
    run: reconcile,
  },
  askCommand({
    path: ['statement', 'pull'],
    args: ['CHANNEL'],
    summary: "get a statement from the reports of a channel's provider, and compare it",
    flags: {
      from: { value: 'DAY', summary: 'the first day, by UTC', required: true },
      to: { value: 'DAY', summary: 'the last day, included', required: true },
    },
    call: 'POST /channels/:id/statements/pull',
    body: ({ line }) => ({ from: line.text('from'), to: line.text('to') }),
    text: summaryText,
  }),
  listCommand(
    { path: ['statement', 'list'], summary: 'statements that were compared, newest first' },
    { path: '/statements', what: 'statements', item: statement, query: statementQuery },
  ),
  askCommand({
    path: ['statement', 'show'],
    args: ['ID'],
    summary: 'how the lines of a statement compare',
    call: 'GET /statements/:id',
    text: summaryText,
  }),
  listCommand(
    { path: ['statement', 'lines'], args: ['ID'], summary: 'its lines, beside what we have' },
    {
      path: '/statements/:id/lines',
      what: 'lines',
      item: statementLine,
      query: lineQuery,
      own: { why: (row) => cell(row['loss'] ?? row['ref']) },
    },
  ),
  askCommand({
    path: ['statement', 'delete'],
    args: ['ID'],
    summary: 'delete a statement and its lines',
    call: 'DELETE /statements/:id',
    text: ({ id }) => `deleted ${cell(id)}`,
  }),
]
