// gateway request and gateway explain: what was asked, how it went, why it cost what it cost.
import { z } from 'zod'
import { attempt, request, requestFilters } from '../../admin/traffic/request-schema.ts'
import { isObject } from '../../lib/json/parse.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, inCurrency, type Row, record, rowOf, rowsOf, table } from '../terminal/show.ts'
import { entryColumns } from './accounts.ts'
import { refundCommand } from './refunds.ts'

/** Entries of one explanation share its currency. */
const withCurrency = (rows: readonly Row[], currency: unknown): readonly Row[] =>
  rows.map((row) => ({ currency, ...row }))

function explanation(row: Row): string {
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
  const present: Row = {
    'finish reason': row['finish_reason'],
    translation: row['translation'],
    'changed or left out': row['translation_losses'],
    reported: row['usage_reported'],
    normalised: row['normalisation'],
    price: isObject(row['price']) ? priceText(price) : undefined,
    tier: row['tier'],
  }
  return Object.fromEntries(
    Object.entries(present).filter(([, value]) => value !== undefined && cell(value) !== '-'),
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

const attemptColumns = columnsOf(attempt)

function requestText(row: Row): string {
  const attempts = rowsOf(row['attempts'])
  const parts = [record(row, ['attempts'])]
  if (attempts.length > 0) parts.push(table(attempts, attemptColumns))
  return parts.join('\n\n')
}

export const requestCommands: readonly Command[] = [
  listCommand(
    { path: ['request', 'list'], summary: 'the request log, newest first' },
    {
      path: '/requests',
      what: 'requests',
      item: request,
      query: z.object(requestFilters),
    },
  ),
  askCommand({
    path: ['request', 'show'],
    args: ['ID'],
    summary: "one request by the gateway's id or the upstream's",
    call: 'GET /requests/:id',
    text: requestText,
  }),
  refundCommand('request'),
  askCommand({
    path: ['explain'],
    args: ['ID'],
    summary: 'why a request or task cost what it cost',
    call: 'GET /explain/:id',
    text: explanation,
  }),
]
