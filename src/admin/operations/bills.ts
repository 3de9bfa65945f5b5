// Bills and losses as documents tell of them.
import { lossReasons } from '../../contract/ledger.ts'
import { bill, billWith, monthRow, monthText, usageRow } from '../../http/bill-schemas.ts'
import { answered, inQuery, type Operation } from '../../http/operation.ts'
import {
  flag,
  list,
  money,
  named,
  number,
  object,
  orNull,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { closeRequest } from '../money/bills.ts'
import { entryFields } from './accounts.ts'
import {
  accountParameter,
  adminOperation,
  bodyOf,
  modelParameter,
  pageOf,
  pageParameters,
  schemaOf,
  spanParameters,
} from './shared.ts'

const month = inQuery('month', monthText)
const needed = { ...accountParameter, required: true }
const channel = inQuery('channel', text('Name of a channel.'))
const months = answered(named('MonthPage', pageOf(monthRow)), 'A page of them.')

const shown = named(
  'ShownBill',
  billWith({
    'breakdown?': list(usageRow),
    'lines?': list(object({ ...entryFields, number: whole(1), balance: money() })),
    'next_cursor?': orNull(text()),
  }),
)

const monthOperations: readonly Operation[] = [
  adminOperation({
    id: 'getBill',
    method: 'get',
    path: '/bills',
    tag: 'Bills',
    summary: 'The bill of an account for a month',
    parameters: [
      needed,
      month,
      inQuery('format', word(['json', 'csv'])),
      inQuery('by', text('Some of token, tier, price, day, with commas between them.')),
      inQuery('lines', word(['true', 'false'])),
      ...pageParameters,
    ],
    answers: [
      {
        status: 200,
        description: 'The bill, or its lines as a table.',
        headers: ['content-disposition'],
        content: { 'application/json': { schema: shown }, 'text/csv': { schema: text() } },
      },
    ],
    refusals: ['not_found'],
  }),
  adminOperation({
    id: 'listMonths',
    method: 'get',
    path: '/bills/months',
    tag: 'Bills',
    summary: 'The months of an account, newest first',
    parameters: [needed, ...pageParameters],
    answers: [months],
    refusals: ['not_found'],
  }),
  adminOperation({
    id: 'listBilledAccounts',
    method: 'get',
    path: '/bills/accounts',
    tag: 'Bills',
    summary: 'A month of all accounts',
    parameters: [month, ...pageParameters],
    answers: [months],
  }),
  adminOperation({
    id: 'printBill',
    method: 'get',
    path: '/bills/statement',
    tag: 'Bills',
    summary: 'A bill to print',
    parameters: [needed, month, inQuery('lang', word(['en', 'zh']))],
    answers: [
      { status: 200, description: 'A page.', content: { 'text/html': { schema: text() } } },
    ],
    refusals: ['not_found'],
  }),
  adminOperation({
    id: 'closeMonth',
    method: 'post',
    path: '/bills/close',
    tag: 'Bills',
    summary: 'Close a month: sign its bill for good',
    body: bodyOf(named('CloseMonth', schemaOf(closeRequest)), {
      month: { account: 'acme', month: '2026-10' },
    }),
    answers: [answered(bill, 'The closed bill.')],
    refusals: ['conflict', 'not_found'],
  }),
]

const loss = named(
  'Loss',
  object({
    id: text(),
    at: time(),
    account_id: text(),
    reason: word(lossReasons),
    amount: money(),
    currency: text(),
    estimated: flag(),
    channel: text(),
    model: text(),
    unit: orNull(text()),
    quantity: orNull(number()),
    request_id: orNull(text()),
    task_id: orNull(text()),
    upstream_id: text(),
  }),
)

const lossTotal = { losses: whole(0), amount: money(), estimated: money() }
const groupOf = (name: string) => list(object({ [name]: text(), ...lossTotal }))

const lossFilters = [
  accountParameter,
  inQuery('reason', word(lossReasons)),
  channel,
  modelParameter,
  inQuery('ref', text('Id of a request or a task.')),
  ...spanParameters,
]

const lossOperations: readonly Operation[] = [
  adminOperation({
    id: 'listLosses',
    method: 'get',
    path: '/losses',
    tag: 'Losses',
    summary: 'Upstream work that no caller paid for',
    parameters: [...lossFilters, ...pageParameters],
    answers: [answered(named('LossList', pageOf(loss)), 'A page of them.')],
  }),
  adminOperation({
    id: 'sumLosses',
    method: 'get',
    path: '/losses/summary',
    tag: 'Losses',
    summary: 'The losses of a month, added up',
    parameters: [month, ...lossFilters],
    answers: [
      answered(
        named(
          'LossSummary',
          object({
            month: text(),
            currency: text(),
            ...lossTotal,
            by_reason: groupOf('reason'),
            by_channel: groupOf('channel'),
            by_model: groupOf('model'),
          }),
        ),
        'The sums.',
      ),
    ],
  }),
]

export const billOperations: readonly Operation[] = [...monthOperations, ...lossOperations]
