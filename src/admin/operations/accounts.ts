// Accounts, their money and what they pay, as documents tell of them.
import { accountDeclaration } from '../../contract/config-schema/index.ts'
import { entryKinds } from '../../contract/ledger.ts'
import { answered, inHeader, type Operation } from '../../http/operation.ts'
import { flag, money, named, number, object, orNull, text, time, word } from '../../http/schema.ts'
import { credit } from '../money/accounts.ts'
import { termFields } from './price-fields.ts'
import {
  adminOperation,
  bodyOf,
  created,
  idOrNameOf,
  modelParameter,
  pageOf,
  pageParameters,
  schemaOf,
  source,
} from './shared.ts'

const account = named(
  'Account',
  object({
    id: text(),
    name: text(),
    currency: text(),
    balance: money('All entries but holds and releases.'),
    held: money('What holds have set aside.'),
    available: money('Balance less held.'),
    source,
    created_at: time(),
    'stopped_since?': time('Since when nothing billable is begun for it.'),
  }),
)

export const entryFields = {
  id: text(),
  at: time(),
  kind: word(entryKinds),
  amount: money('Signed as the account feels it.'),
  request_id: orNull(text()),
  task_id: orNull(text()),
  model: orNull(text()),
  unit: orNull(text()),
  tier: orNull(text()),
  quantity: orNull(number()),
  price_id: orNull(text()),
  estimated: flag(),
  note: orNull(text()),
}

export const entry = named('Entry', object(entryFields))

const id = idOrNameOf('an account')
const tag = 'Accounts'

export const accountOperations: readonly Operation[] = [
  adminOperation({
    id: 'createAccount',
    method: 'post',
    path: '/accounts',
    tag,
    summary: 'Open an account',
    body: bodyOf(named('AccountDeclaration', schemaOf(accountDeclaration)), {
      plain: { name: 'example-account', balance: '50.00' },
    }),
    answers: [created(account, 'The account.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'listAccounts',
    method: 'get',
    path: '/accounts',
    tag,
    summary: 'List accounts, oldest first',
    parameters: pageParameters,
    answers: [answered(named('AccountList', pageOf(account)), 'A page of them.')],
  }),
  adminOperation({
    id: 'getAccount',
    method: 'get',
    path: '/accounts/{id}',
    tag,
    summary: 'Look at an account',
    parameters: [id],
    answers: [answered(account, 'The account.')],
  }),
  adminOperation({
    id: 'creditAccount',
    method: 'post',
    path: '/accounts/{id}/credits',
    tag,
    summary: 'Put money on an account, or take it back',
    parameters: [id, inHeader('Idempotency-Key', text('Booked once for each key.'))],
    body: bodyOf(named('Credit', schemaOf(credit)), {
      credit: { amount: '25.00', note: 'invoice 17' },
      adjustment: { amount: '-1.50' },
    }),
    answers: [created(account, 'The account afterwards.')],
    refusals: ['conflict', 'idempotency_mismatch'],
  }),
  adminOperation({
    id: 'listEntries',
    method: 'get',
    path: '/accounts/{id}/ledger',
    tag,
    summary: 'The ledger of an account, newest first',
    parameters: [id, ...pageParameters],
    answers: [answered(named('EntryList', pageOf(entry)), 'A page of entries.')],
  }),
  adminOperation({
    id: 'listPricesOfAccount',
    method: 'get',
    path: '/accounts/{id}/prices',
    tag,
    summary: 'What an account pays now, model by model',
    parameters: [id, modelParameter, ...pageParameters],
    answers: [
      answered(
        named(
          'PaidPriceList',
          pageOf(
            object({
              model: text(),
              ...termFields,
              effective_from: time(),
              own: flag("Whether it is the account's own price."),
            }),
          ),
        ),
        'A page of them.',
      ),
    ],
  }),
]
