// gateway request and gateway explain: what was asked, how it went, why it cost what it cost.
import { isObject } from '../lib/json/parse.ts'
import { entryColumns } from './accounts.ts'
import { type Command, pageFlags } from './command.ts'
import { list, segment } from './legacy-list.ts'
import {
  cell,
  column,
  inCurrency,
  moneyColumn,
  nameOf,
  numberColumn,
  type Row,
  record,
  rowOf,
  rowsOf,
  table,
} from './show.ts'

const usageColumn = (title: string, field: string) => ({
  title,
  right: true as const,
  value: (row: Row) => cell(rowOf(row['usage'])[field]),
})

/** Entries of one explanation share its currency. */
const withCurrency = (rows: readonly Row[], currency: unknown): readonly Row[] =>
  rows.map((row) => ({ currency, ...row }))

function explanation(answer: unknown): string {
  const row = rowOf(answer)
  const parts = [`${cell(row['request_id'] ?? row['task_id'])}  ${inCurrency(row['charge'], row)}`]
  const basis = basisOf(row)
  if (Object.keys(basis).length > 0) parts.push(indented(record(basis)))
  const steps = Array.isArray(row['steps']) ? row['steps'] : []
  if (steps.length > 0) parts.push(indented(steps.map(cell).join('\n')))
  const entries = withCurrency(rowsOf(row['entries']), row['currency'])
  if (entries.length > 0) parts.push(table(entries, entryColumns))
  if (isObject(row['receipt'])) parts.push(indented(record(receiptRows(row['receipt']))))
  return parts.join('\n\n')
}

const indented = (text: string): string => text.replace(/^/gm, '  ')

/** What the arithmetic starts from; nothing of what was not told. */
function basisOf(row: Row): Row {
  const price = rowOf(row['price'])
  const told: Row = {
    reported: row['usage_reported'],
    normalised: row['normalisation'],
    price: isObject(row['price']) ? priceText(price) : undefined,
    tier: row['tier'],
  }
  return Object.fromEntries(
    Object.entries(told).filter(([, value]) => value !== undefined && cell(value) !== '-'),
  )
}

function priceText(price: Row): string {
  const whose = price['account'] ? ` of account ${cell(price['account'])}` : ''
  const said = `in force from ${cell(price['effective_from'])} (${cell(price['source'])})`
  return `${cell(price['id'])} for ${cell(price['model'])}${whose}, ${said}`
}

function receiptRows(receipt: Row): Row {
  if (typeof receipt['problem'] === 'string') return { receipt: `NOT VALID: ${receipt['problem']}` }
  return {
    receipt: `${cell(receipt['number'])} of ${cell(receipt['account_id'])}`,
    'balance after': inCurrency(receipt['balance'], receipt),
    hash: receipt['hash'],
    previous: receipt['previous'],
    signature: receipt['signature'],
    key: receipt['key'],
  }
}

function requestText(answer: unknown): string {
  const row = rowOf(answer)
  const attempts = rowsOf(row['attempts'])
  const parts = [record(row, ['attempts'])]
  if (attempts.length > 0) {
    const numbers = ['key', 'after_ms', 'ms', 'status'].map((name) => numberColumn(name))
    const columns = [column('channel'), ...numbers]
    const error = { title: 'error', value: errorOf }
    parts.push(table(attempts, [...columns, error]))
  }
  return parts.join('\n\n')
}

function errorOf(row: Row): string {
  const error = row['error'] ?? row['error_code']
  return cell(isObject(error) ? (error['message'] ?? error['code']) : error)
}

export const requestCommands: readonly Command[] = [
  {
    path: ['request', 'list'],
    args: [],
    summary: 'the request log, newest first',
    flags: {
      account: { value: 'ID|NAME', summary: 'of this account' },
      token: { value: 'ID', summary: 'made with this token (its id, not its secret)' },
      model: { value: 'MODEL', summary: 'for this model' },
      channel: { value: 'NAME', summary: 'through this channel' },
      status: { value: 'N', summary: 'answered with this HTTP status' },
      'error-code': { value: 'CODE', summary: 'such as model_not_found' },
      from: { value: 'TIME', summary: 'at or after, such as 2026-11-01T00:00:00Z' },
      to: { value: 'TIME', summary: 'before' },
      ...pageFlags,
    },
    run: (context) =>
      list(context, {
        path: '/requests',
        what: 'requests',
        query: {
          account: context.line.text('account'),
          token: context.line.text('token'),
          model: context.line.text('model'),
          channel: context.line.text('channel'),
          status: context.line.text('status'),
          error_code: context.line.text('error-code'),
          from: context.line.time('from'),
          to: context.line.time('to'),
        },
        columns: [
          column('at'),
          column('request_id', 'request'),
          { title: 'account', value: (row) => nameOf(row['account']) },
          { title: 'token', value: (row) => nameOf(row['token']) },
          column('interface'),
          column('model'),
          { title: 'channel', value: (row) => nameOf(row['channel']) },
          numberColumn('status'),
          column('error_code', 'error'),
          usageColumn('in', 'input_tokens'),
          usageColumn('out', 'output_tokens'),
          moneyColumn('charge'),
          numberColumn('total_ms', 'ms'),
        ],
      }),
  },
  {
    path: ['request', 'show'],
    args: ['ID'],
    summary: "one request by the gateway's id or the upstream's",
    flags: {},
    async run({ line, admin }) {
      const answer = await admin.ask('GET', `/requests/${segment(line.arg(0))}`)
      return { answer, text: requestText(answer) }
    },
  },
  {
    path: ['explain'],
    args: ['ID'],
    summary: 'why a request or task cost what it cost',
    flags: {},
    async run({ line, admin }) {
      const answer = await admin.ask('GET', `/explain/${segment(line.arg(0))}`)
      return { answer, text: explanation(answer) }
    },
  },
]
