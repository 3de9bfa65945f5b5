// Tokens as documents tell of them.
import { tokenDeclaration } from '../../contract/config-schema/index.ts'
import { answered, inQuery, type Operation } from '../../http/operation.ts'
import {
  flag,
  list,
  money,
  named,
  object,
  orNull,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { change, rotation } from '../people/tokens.ts'
import {
  accountParameter,
  adminOperation,
  bodyOf,
  created,
  idOf,
  pageOf,
  pageParameters,
  schemaOf,
  source,
} from './shared.ts'

const fields = {
  id: text(),
  account: text(),
  name: text(),
  prefix: text('First letters of the secret.'),
  models: list(text()),
  limits: object({ 'rpm?': whole(1), 'tpm?': whole(1), 'concurrency?': whole(1) }),
  allowed_ips: list(text()),
  expires_at: orNull(time()),
  disabled: flag(),
  source,
  created_at: time(),
}

const token = named('Token', object(fields))
const secret = text('The secret itself, this once.')
const made = named('TokenWithSecret', object({ ...fields, token: secret }))
const rotated = named(
  'RotatedToken',
  object({
    ...fields,
    token: secret,
    old: orNull(object({ id: text(), name: text(), expires_at: time() })),
  }),
)
const listed = named(
  'ListedToken',
  object({
    ...fields,
    'spend?': money('In the last days.'),
    'spend_by_day?': list(object({ day: text(), amount: money() })),
    'last_charged_at?': orNull(time()),
  }),
)

const tag = 'Tokens'
const id = idOf('a token')

export const tokenOperations: readonly Operation[] = [
  adminOperation({
    id: 'createToken',
    method: 'post',
    path: '/tokens',
    tag,
    summary: 'Issue a token',
    body: bodyOf(named('TokenDeclaration', schemaOf(tokenDeclaration)), {
      plain: { account: 'acme', name: 'example-token' },
      narrow: {
        account: 'acme',
        name: 'example-narrow',
        models: ['txta-*'],
        limits: { rpm: 600 },
        allowed_ips: ['127.0.0.0/8'],
        expires_at: '2099-01-01T00:00:00Z',
      },
    }),
    answers: [created(made, 'The token, with its secret.')],
    refusals: ['conflict', 'not_found'],
  }),
  adminOperation({
    id: 'listTokens',
    method: 'get',
    path: '/tokens',
    tag,
    summary: 'List tokens, without secrets',
    parameters: [
      accountParameter,
      inQuery('spend', word(['true', 'false'], 'With what was spent lately.')),
      ...pageParameters,
    ],
    answers: [answered(named('TokenList', pageOf(listed)), 'A page of them.')],
  }),
  adminOperation({
    id: 'getToken',
    method: 'get',
    path: '/tokens/{id}',
    tag,
    summary: 'Look at a token',
    parameters: [id],
    answers: [answered(token, 'The token.')],
  }),
  adminOperation({
    id: 'changeToken',
    method: 'patch',
    path: '/tokens/{id}',
    tag,
    summary: 'Change a token',
    description: 'Limits are merged; null takes one away.',
    parameters: [id],
    body: bodyOf(named('TokenChange', schemaOf(change)), {
      limits: { limits: { rpm: 60, tpm: null } },
      disabled: { disabled: true },
    }),
    answers: [answered(token, 'The token.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'rotateToken',
    method: 'post',
    path: '/tokens/{id}/rotate',
    tag,
    summary: 'Give a token another secret',
    parameters: [id],
    body: bodyOf(named('TokenRotation', schemaOf(rotation)), { atOnce: {} }),
    answers: [answered(rotated, 'The token with its new secret, and what became of the old.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'revokeToken',
    method: 'delete',
    path: '/tokens/{id}',
    tag,
    summary: 'Revoke a token, for good',
    parameters: [id],
    answers: [answered(object({ id: text(), revoked: { const: true } }), 'It is revoked.')],
    refusals: ['conflict'],
  }),
]
