// A caller's own usage and bills as documents describe them.

import { bill, monthPattern, monthRow, usageRow } from '../../contract/answers/bill-schema.ts'
import { ownBudget } from '../../contract/answers/budget-schema.ts'
import { pageOf } from '../../contract/answers/fields.ts'
import { usageKeys } from '../../contract/caller-api.ts'
import { answered, callerRefusals, inQuery, json, type Operation } from '../../http/operation.ts'
import { either, list, named, object, orNull, text, time, whole, word } from '../../http/schema.ts'
import { schemaOf } from '../../http/zod-schema.ts'

const sums = schemaOf(usageRow, 'output')
const months = schemaOf(pageOf(monthRow, 'MonthList'), 'output')

const report = named(
  'UsageReport',
  object({
    account: text(),
    token: object({ id: text(), name: text() }),
    scope: word(['account', 'token']),
    currency: text(),
    from: time(),
    to: time(),
    by: list(text()),
    budgets: list(schemaOf(ownBudget, 'output')),
    total: sums,
    items: list(sums),
    next_cursor: orNull(text()),
  }),
)

const page = [
  inQuery('limit', whole(1, 1_000, 'Rows of a page.')),
  inQuery('cursor', text('`next_cursor` of the page before.')),
]
const keys = [...usageKeys, 'end_user', 'tag:[a-z][a-z0-9_-]{0,31}'].join('|')
const groupBy = text('Adds `items` by a tag, as `tag:team`, or by `end_user`.', {
  pattern: '^(?:end_user|tag:[a-z][a-z0-9_-]{0,31})$',
})
const base = { method: 'get', tag: 'Own account', credential: 'token' } as const
const refusals = [...callerRefusals, 'rate_limit_exceeded'] as const

export const usageOperations: readonly Operation[] = [
  {
    ...base,
    id: 'getUsage',
    path: '/gateway/v1/usage',
    summary: 'What this account has been charged for',
    parameters: [
      inQuery('from', text('A day or a whole hour; default: the beginning of the month.')),
      inQuery('to', text('The same; default: now.')),
      inQuery(
        'by',
        text(
          `Some of ${usageKeys.join(', ')}, and one of end_user or tag:NAME, with commas between them; default \`model\`.`,
          { pattern: `^(?:${keys})(?:,(?:${keys}))*$` },
        ),
      ),
      inQuery('scope', word(['account', 'token'], 'Of the whole account, or of this token.')),
      ...page,
    ],
    answers: [answered(report, 'Sums, row by row.')],
    refusals,
  },
  {
    ...base,
    id: 'getBills',
    path: '/gateway/v1/bills',
    summary: 'The months of this account, or the bill of one',
    parameters: [
      inQuery('month', text('Such as `2026-11`.', { pattern: monthPattern })),
      inQuery('format', word(['json', 'csv'], 'Of the bill of one month.')),
      inQuery('group_by', groupBy),
      ...page,
    ],
    answers: [
      {
        status: 200,
        description: 'A list of months; with `month` its bill, as JSON or line by line.',
        headers: ['content-disposition'],
        content: {
          ...json(named('BillOrMonths', either(months, schemaOf(bill, 'output')))),
          'text/csv': { schema: text('Every line with its receipt.') },
        },
      },
    ],
    refusals,
  },
]
