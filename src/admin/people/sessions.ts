// Sessions: the first administrator by a code that works once, signing in, and the own password.

import { z } from 'zod'
import { topUpOf } from '../../contract/config-schema/issuer.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Person } from '../../contract/people.ts'
import type { BaseDeps, Declares, Offers } from '../../engine/base-deps.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { revokePasswordLinks } from '../../store/catalog/invitations.ts'
import {
  endSessionsOf,
  findPerson,
  insertPerson,
  listPeople,
  updatePerson,
} from '../../store/catalog/people.ts'
import { auditChange } from '../answers.ts'
import { forAll, forAnyone } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { passwordElsewhere } from './break-glass.ts'
import { hashPassword } from './passwords.ts'
import { newPassword, session, setUp, signIn as signInBody } from './person-schema.ts'
import { accountNameOf, personFrom, personView } from './person-view.ts'
import { codeUsed, useSetupCode, wrongCode } from './set-up.ts'
import { beginSession, checkOldPassword, cookieOf, signIn } from './sign-in.ts'

async function makeFirst({ engine, body, x }: Ask<{ body: typeof setUp }>) {
  // Before any password is hashed, which is expensive.
  const refusal = await wrongCode(engine, x, body.code)
  if (refusal !== undefined) return refusal
  const person = personFrom(x, { name: body.name, role: 'administrator' })
  const hash = await hashPassword(body.password)
  if (hash instanceof Refusal) return hash
  const made = await engine.store.tx(async (tx) => {
    if (!(await useSetupCode(tx, engine.seal, body.code, x.atMs))) return false
    await insertPerson(tx, { ...person, password: hash })
    const change = { action: 'person.create', subject: person.id, after: personView(person) }
    await auditChange(tx, x, change)
    return true
  })
  if (!made) return codeUsed
  return answerSignedIn(engine, x, person, await beginSession(engine, x, person))
}

async function open({ engine, deps, body, x }: Ask<{ body: typeof signInBody }>) {
  const done = await signIn(engine, x, body, deps.oidc?.settings.only)
  if (done instanceof Refusal) return done
  return answerSignedIn(engine, x, done.person, done.cookie)
}

/** Who is signed in, with the cookie of their new session. */
export const answerSignedIn = async (
  engine: BaseDeps & SessionDeps,
  x: RequestContext,
  person: Person,
  cookie: string,
): Promise<Response> =>
  withCookie(x, cookie, sessionView(engine, person, await accountNameOf(engine, person)))

async function show({ engine, viewer }: Ask) {
  const { read } = engine.store
  const person =
    viewer?.personId === undefined ? undefined : await findPerson(read, viewer.personId)
  if (person !== undefined) return sessionView(engine, person, await accountNameOf(engine, person))
  return { ...sessionView(engine), name: viewer?.actor ?? '' }
}

async function changePassword({ engine, body, viewer, x }: Ask<{ body: typeof newPassword }>) {
  const personId = viewer?.personId
  if (personId === undefined) return refuse('conflict', 'the admin token has no password')
  const person = await findPerson(engine.store.read, personId)
  if (person?.subject !== undefined) return passwordElsewhere
  const right = await checkOldPassword(engine, x, viewer!, body.old)
  if (right !== true) return right
  const hash = await hashPassword(body.password)
  if (hash instanceof Refusal) return hash
  const stays = cookieOf(x)
  await engine.store.tx(async (tx) => {
    await updatePerson(tx, personId, { password: hash })
    // Sessions that were opened with the old password end.
    await endSessionsOf(tx, personId, stays && engine.seal.hash(stays))
    await revokePasswordLinks(tx, personId)
    await auditChange(tx, x, { action: 'person.password', subject: personId })
  })
  return { changed: true as const }
}

type SessionDeps = Declares & Offers & { readonly publicUrl: string }

/** Who is signed in, and where: all that the console needs before its first page. */
const sessionView = (
  engine: SessionDeps,
  person?: Person,
  account?: string,
): View<typeof session> => ({
  name: person?.name ?? '',
  role: person?.role ?? 'administrator',
  account: account ?? null,
  currency: engine.declared.file.currency,
  public_url: engine.publicUrl,
  environment: isSandboxOnly(engine) ? 'sandbox' : 'live',
  top_up: account === undefined ? null : topUpFor(engine, account),
})

const topUpFor = ({ declared }: Declares, account: string) =>
  declared.file.top_up === undefined ? null : topUpOf(declared.file.top_up, account)

/** Whether everything is answered by the simulator. */
const isSandboxOnly = ({ catalog }: Offers): boolean =>
  catalog.channels.every(({ source }) => source === 'builtin')

const withCookie = (x: RequestContext, cookie: string, body: object): Response =>
  answerJson(x, JSON.stringify(body), 200, { 'set-cookie': cookie })

const password = 'correct-horse-battery'
const signedIn = {
  answer: session,
  returns: 'Who is signed in.',
  headers: ['set-cookie'],
} as const

const route = routesOf({ tag: 'People', thing: 'session', permission: forAll })

export const sessionRoutes = [
  route('GET /setup', {
    id: 'getSetup',
    permission: forAnyone,
    summary: 'Whether the first administrator is still to be made',
    answer: z.object({ needed: z.boolean() }),
    returns: 'Yes or no.',
    handle: async ({ engine }) => ({ needed: (await listPeople(engine.store.read)).length === 0 }),
  }),
  route('POST /setup', {
    id: 'setUp',
    permission: forAnyone,
    summary: 'Make the first administrator with a code that works once',
    body: setUp,
    examples: {
      first: { code: 'from the link that the start prints', name: 'ada', password },
    },
    ...signedIn,
    refusals: ['conflict', 'rate_limit_exceeded'],
    handle: makeFirst,
  }),
  route('POST /session', {
    id: 'signIn',
    permission: forAnyone,
    summary: 'Sign in',
    body: signInBody,
    examples: { person: { name: 'ada', password } },
    ...signedIn,
    refusals: ['rate_limit_exceeded'],
    handle: open,
  }),
  route('GET /session', {
    id: 'getSession',
    summary: 'Who is signed in',
    answer: session,
    returns: 'Who is signed in.',
    handle: show,
  }),
  route('POST /session/password', {
    id: 'changePassword',
    summary: 'Change the own password',
    body: newPassword,
    examples: { other: { old: password, password: 'another-horse-battery' } },
    answer: z.object({ changed: z.literal(true) }),
    returns: 'Other sessions are over.',
    refusals: ['conflict'],
    handle: changePassword,
  }),
]
