// Statements of upstreams as documents tell of them.
import { statementFields } from '../../billing/reconciliation/statement-columns.ts'
import { lossReasons } from '../../contract/ledger.ts'
import { answered, inQuery, type Operation } from '../../http/operation.ts'
import {
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
import { lineOutcomes } from '../../store/ledger/statements.ts'
import {
  adminOperation,
  created,
  deleted,
  idOf,
  pageOf,
  pageParameters,
  tableAnswer,
} from './shared.ts'

const channel = inQuery('channel', text('Name of a channel.'))
const outcomeSum = object({
  lines: whole(0),
  quantity: number(),
  amount: money(),
  our_quantity: number(),
  our_amount: money(),
})

const statementShape = {
  id: text(),
  at: time(),
  channel: text(),
  name: text(),
  from: time(),
  to: time(),
  currency: text(),
  lines: whole(0),
  map: object(Object.fromEntries(statementFields.map((field) => [`${field}?`, text()]))),
  cost_factor: orNull(money()),
  tolerance: orNull(money()),
  outcomes: object(Object.fromEntries(lineOutcomes.map((name) => [name, outcomeSum]))),
}

const statement = named('Statement', object(statementShape))

const line = named(
  'StatementLine',
  object({
    line: whole(),
    outcome: word(lineOutcomes),
    at: orNull(time()),
    model: orNull(text()),
    upstream_id: orNull(text()),
    quantity: orNull(number()),
    amount: orNull(money()),
    our_quantity: orNull(number()),
    our_amount: orNull(money()),
    ref: orNull(text()),
    loss: orNull(word(lossReasons)),
  }),
)

const id = idOf('a statement')
const outcome = inQuery('outcome', word(lineOutcomes))

export const statementOperations: readonly Operation[] = [
  adminOperation({
    id: 'importStatement',
    method: 'post',
    path: '/statements',
    tag: 'Statements',
    summary: 'Take in what an upstream bills, and compare it',
    parameters: [
      { ...channel, required: true },
      inQuery('name', text(undefined, { maxLength: 200 })),
      inQuery('map', text('JSON: which column is which, `{"id":"Request ID","amount":"Cost"}`.')),
      inQuery('zone', text('Offset of its times, such as `+08:00`.')),
      inQuery('dates', word(['dmy', 'mdy'])),
      inQuery('decimal', word(['.', ','])),
      inQuery('cost_factor', text('What the upstream costs of our prices, such as `0.8`.')),
      inQuery('tolerance', text('Share that may differ, from 0 to 1; default `0.01`.')),
      inQuery('from', text('A day or a time.')),
      inQuery('to', text('A day or a time.')),
    ],
    body: {
      required: true,
      content: {
        'text/csv': {
          schema: text(),
          examples: {
            lines:
              'Request ID,Time,Model,Tokens,Cost\nup-1,2026-11-15T10:00:00Z,txta-plus,25,0.01\n',
          },
        },
      },
    },
    answers: [
      created(
        named('ImportedStatement', object({ ...statementShape, warnings: list(text()) })),
        'The statement and what came of it.',
      ),
    ],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'listStatements',
    method: 'get',
    path: '/statements',
    tag: 'Statements',
    summary: 'List statements, newest first',
    parameters: [channel, ...pageParameters],
    answers: [answered(named('StatementList', pageOf(statement)), 'A page of them.')],
  }),
  adminOperation({
    id: 'getStatement',
    method: 'get',
    path: '/statements/{id}',
    tag: 'Statements',
    summary: 'Look at a statement',
    parameters: [id],
    answers: [answered(statement, 'The statement.')],
  }),
  adminOperation({
    id: 'listStatementLines',
    method: 'get',
    path: '/statements/{id}/lines',
    tag: 'Statements',
    summary: 'The lines of a statement, each with its outcome',
    parameters: [id, outcome, ...pageParameters],
    answers: [answered(named('StatementLineList', pageOf(line)), 'A page of them.')],
  }),
  adminOperation({
    id: 'exportStatement',
    method: 'get',
    path: '/statements/{id}/export',
    tag: 'Statements',
    summary: 'The lines of a statement as a table',
    parameters: [id, outcome],
    answers: [tableAnswer('The table.')],
  }),
  adminOperation({
    id: 'deleteStatement',
    method: 'delete',
    path: '/statements/{id}',
    tag: 'Statements',
    summary: 'Remove a statement',
    parameters: [id],
    answers: [deleted],
  }),
]
