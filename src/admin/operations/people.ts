// People and sessions as documents tell of them.
import { roles } from '../../contract/people.ts'
import { answered, type Operation } from '../../http/operation.ts'
import { flag, named, object, orNull, text, time, word } from '../../http/schema.ts'
import { added, changed, first, given, newPassword } from '../people/people.ts'
import { adminOperation, bodyOf, created, idOf, pageOf, schemaOf } from './shared.ts'

const me = named(
  'Session',
  object({
    name: text(),
    role: word(roles),
    account: orNull(text()),
    currency: text(),
    public_url: text(),
    environment: word(['sandbox', 'live']),
  }),
)

const person = named(
  'Person',
  object({
    id: text(),
    name: text(),
    role: word(roles),
    account: orNull(text()),
    disabled: flag(),
    created_at: time(),
  }),
)

const tag = 'People'
const signedIn = answered(me, 'Who is signed in.', { headers: ['set-cookie'] })
const password = 'correct-horse-battery'
const id = idOf('a person')

export const peopleOperations: readonly Operation[] = [
  {
    ...adminOperation({
      id: 'getSetup',
      method: 'get',
      path: '/setup',
      tag,
      summary: 'Whether the first administrator is still to be made',
      answers: [answered(object({ needed: flag() }), 'Yes or no.')],
    }),
    credential: 'none',
  },
  {
    ...adminOperation({
      id: 'setUp',
      method: 'post',
      path: '/setup',
      tag,
      summary: 'Make the first administrator with a code that works once',
      body: bodyOf(named('SetUp', schemaOf(first)), {
        first: { code: 'from the link that the start prints', name: 'ada', password },
      }),
      answers: [signedIn],
      refusals: ['conflict'],
    }),
    credential: 'none',
  },
  {
    ...adminOperation({
      id: 'signIn',
      method: 'post',
      path: '/session',
      tag,
      summary: 'Sign in',
      body: bodyOf(named('SignIn', schemaOf(given)), { person: { name: 'ada', password } }),
      answers: [signedIn],
      refusals: ['rate_limit_exceeded'],
    }),
    credential: 'none',
  },
  adminOperation({
    id: 'getSession',
    method: 'get',
    path: '/session',
    tag,
    summary: 'Who is signed in',
    answers: [answered(me, 'Who is signed in.')],
  }),
  adminOperation({
    id: 'signOut',
    method: 'delete',
    path: '/session',
    tag,
    summary: 'Sign out',
    answers: [
      answered(object({ ended: { const: true } }), 'The session is over.', {
        headers: ['set-cookie'],
      }),
    ],
  }),
  adminOperation({
    id: 'changePassword',
    method: 'post',
    path: '/session/password',
    tag,
    summary: 'Change the own password',
    body: bodyOf(named('NewPassword', schemaOf(newPassword)), {
      other: { old: password, password: 'another-horse-battery' },
    }),
    answers: [answered(object({ changed: { const: true } }), 'Other sessions are over.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'listPeople',
    method: 'get',
    path: '/people',
    tag,
    summary: 'List people',
    answers: [answered(named('PersonList', pageOf(person)), 'All of them.')],
  }),
  adminOperation({
    id: 'addPerson',
    method: 'post',
    path: '/people',
    tag,
    summary: 'Add somebody',
    body: bodyOf(named('NewPerson', schemaOf(added)), {
      administrator: { name: 'example-admin', password, role: 'administrator' },
      operator: { name: 'example-person', password, role: 'operator' },
    }),
    answers: [created(person, 'The person.')],
    refusals: ['conflict', 'not_found'],
  }),
  adminOperation({
    id: 'changePerson',
    method: 'patch',
    path: '/people/{id}',
    tag,
    summary: 'Change what somebody may do',
    parameters: [id],
    body: bodyOf(named('PersonChange', schemaOf(changed)), { finance: { role: 'finance' } }),
    answers: [answered(person, 'The person.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'deletePerson',
    method: 'delete',
    path: '/people/{id}',
    tag,
    summary: 'Remove somebody',
    parameters: [id],
    answers: [answered(object({ deleted: { const: true } }), 'They are gone.')],
    refusals: ['conflict'],
  }),
]
