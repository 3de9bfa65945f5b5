// People: the first one by a link that works once, then by an administrator; signing in and out.
import { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Person } from '../../contract/people.ts'
import { roles } from '../../contract/people.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import { answerJson } from '../../http/exchange.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  deletePerson,
  endSession,
  endSessionsOf,
  findPerson,
  insertPerson,
  listPeople,
  lockPeople,
  type PersonChange,
  updatePerson,
} from '../../store/catalog/people.ts'
import { isUniqueConflict } from '../../store/index.ts'
import {
  type AdminDeps,
  notFound,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'
import { hashPassword } from './passwords.ts'
import { codeUsed, useSetupCode, wrongCode } from './set-up.ts'
import {
  beginSession,
  checkOldPassword,
  cookieOf,
  endedCookie,
  maxPassword,
  minPassword,
  signIn,
} from './sign-in.ts'

const name = z
  .string()
  .regex(/^[\w.@+-]{2,100}$/, 'must be 2 to 100 letters, digits and . @ + - _')
  .transform((text) => text.toLowerCase())
const password = z
  .string()
  .min(minPassword, `must have at least ${minPassword} characters`)
  .max(maxPassword)
export const given = z.strictObject({
  name: z.string().max(100),
  password: z.string().max(maxPassword),
})
export const first = z.strictObject({ code: z.string().max(100), name, password })
export const added = z.strictObject({
  name,
  password,
  role: z.enum(roles),
  account: z.string().optional(),
})
export const changed = z.strictObject({
  password: password.optional(),
  role: z.enum(roles).optional(),
  account: z.string().nullable().optional(),
  disabled: z.boolean().optional(),
})
export const newPassword = z.strictObject({ old: z.string().max(maxPassword), password })

export const people: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/setup',
    route(async () => ({ needed: (await listPeople(store.read)).length === 0 })),
  )

  app.post(
    '/setup',
    route(async (_, x) => {
      const body = await readBody(x, deps, first)
      if (body instanceof Refusal) return body
      // Before any password is hashed, which is dear.
      const refusal = await wrongCode(engine, body.code)
      if (refusal !== undefined) return refusal
      const person = personFrom(x, { name: body.name, role: 'administrator' })
      const hash = await hashPassword(body.password)
      if (hash instanceof Refusal) return hash
      const made = await store.tx(async (tx) => {
        if (!(await useSetupCode(tx, engine.seal, body.code, x.atMs))) return false
        await insertPerson(tx, { ...person, password: hash })
        const change = { action: 'person.create', subject: person.id, after: viewOf(person) }
        await recordChange(tx, x, change)
        return true
      })
      if (!made) return codeUsed
      return withCookie(x, await beginSession(engine, x, person), meView(deps, person, undefined))
    }, 201),
  )

  app.post(
    '/session',
    route(async (_, x) => {
      const body = await readBody(x, deps, given)
      if (body instanceof Refusal) return body
      const done = await signIn(engine, x, body)
      if (done instanceof Refusal) return done
      const account = await accountNameOf(engine, done.person)
      return withCookie(x, done.cookie, meView(deps, done.person, account))
    }),
  )

  app.get(
    '/session',
    route(async (_, x) => {
      const { viewer } = x
      const person =
        viewer?.personId === undefined ? undefined : await findPerson(store.read, viewer.personId)
      if (person !== undefined) return meView(deps, person, await accountNameOf(engine, person))
      return { ...meView(deps, undefined, undefined), name: viewer?.actor ?? '' }
    }),
  )

  app.delete(
    '/session',
    route(async (_, x) => {
      const secret = cookieOf(x)
      if (secret !== undefined) {
        await store.tx((tx) => endSession(tx, engine.seal.hash(secret)))
      }
      return withCookie(x, endedCookie, { ended: true })
    }),
  )

  app.post(
    '/session/password',
    route(async (_, x) => {
      const body = await readBody(x, deps, newPassword)
      if (body instanceof Refusal) return body
      const { viewer } = x
      if (viewer?.personId === undefined)
        return refuse('conflict', 'the admin token has no password')
      const right = await checkOldPassword(engine, x, viewer, body.old)
      if (right !== true) return right
      const hash = await hashPassword(body.password)
      if (hash instanceof Refusal) return hash
      const stays = cookieOf(x)
      await store.tx(async (tx) => {
        await updatePerson(tx, viewer.personId!, { password: hash })
        // Whoever knew the old one is out.
        await endSessionsOf(tx, viewer.personId!, stays && engine.seal.hash(stays))
        await recordChange(tx, x, { action: 'person.password', subject: viewer.personId! })
      })
      return { changed: true }
    }),
  )

  mountUsers(app, deps)
}

const mountUsers: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/people',
    route(async () => {
      const found = await listPeople(store.read)
      const items = await Promise.all(
        found.map(async (person) => viewOf(person, await accountNameOf(engine, person))),
      )
      return { items, next_cursor: null }
    }),
  )

  app.post(
    '/people',
    route(async (_, x) => {
      const body = await readBody(x, deps, added)
      if (body instanceof Refusal) return body
      const account = await accountFor(engine, body.role, body.account)
      if (account instanceof Refusal) return account
      const person = personFrom(x, {
        name: body.name,
        role: body.role,
        ...(account !== undefined && { accountId: account.id }),
      })
      const hash = await hashPassword(body.password)
      if (hash instanceof Refusal) return hash
      const after = viewOf(person, account?.name)
      try {
        await store.tx(async (tx) => {
          await insertPerson(tx, { ...person, password: hash })
          await recordChange(tx, x, { action: 'person.create', subject: person.id, after })
        })
      } catch (error) {
        if (!isUniqueConflict(error)) throw error
        return refuse('conflict', `there is a '${body.name}' already`, { param: 'name' })
      }
      return after
    }, 201),
  )

  app.patch(
    '/people/:id',
    route(async ({ id }, x) => {
      const body = await readBody(x, deps, changed)
      if (body instanceof Refusal) return body
      const before = await findPerson(store.read, id)
      if (before === undefined) return notFound('person', id)
      const change = await changeFrom(engine, before, body)
      if (change instanceof Refusal) return change
      return store.tx(async (tx) => {
        const all = await lockPeople(tx)
        // As they are now: somebody else may have changed or removed them meanwhile.
        const now = all.find((each) => each.id === id)
        if (now === undefined) return notFound('person', id)
        const { role = now.role, disabled = now.disabled } = change
        const others = all.filter((each) => each.id !== id)
        if (losesAll(all, [...others, { ...now, role, disabled }])) return lastAdministrator
        await updatePerson(tx, id, change)
        // What somebody may do has changed: they sign in anew.
        if (Object.keys(change).length > 0) await endSessionsOf(tx, id)
        const person = (await findPerson(tx, id))!
        const after = viewOf(person, await accountNameOf(engine, person))
        const action = body.password === undefined ? 'person.change' : 'person.password'
        await recordChange(tx, x, { action, subject: id, before: viewOf(before), after })
        return after
      })
    }),
  )

  app.delete(
    '/people/:id',
    route(async ({ id }, x) => {
      const before = await findPerson(store.read, id)
      if (before === undefined) return notFound('person', id)
      return store.tx(async (tx) => {
        const all = await lockPeople(tx)
        const others = all.filter((each) => each.id !== id)
        if (losesAll(all, others)) return lastAdministrator
        await deletePerson(tx, id)
        await recordChange(tx, x, { action: 'person.delete', subject: id, before: viewOf(before) })
        return { deleted: true }
      })
    }),
  )
}

const hasAdministrator = (all: readonly Person[]): boolean =>
  all.some(({ role, disabled }) => role === 'administrator' && !disabled)

/** Where nobody was one, the admin token is how the gateway is run, and the others may be changed. */
const losesAll = (before: readonly Person[], after: readonly Person[]): boolean =>
  hasAdministrator(before) && !hasAdministrator(after)

const lastAdministrator = refuse('conflict', 'somebody must be able to administer the gateway')

function personFrom(x: Exchange, more: Pick<Person, 'name' | 'role' | 'accountId'>): Person {
  return { id: newShortId('usr', x.atMs), disabled: false, createdAtMs: x.atMs, ...more }
}

/** Members have an account, nobody else does. */
async function accountFor({ store }: Engine, role: Person['role'], account: string | undefined) {
  if (role !== 'member') {
    if (account === undefined) return undefined
    return refuse('invalid_request', "only members have an 'account'", { param: 'account' })
  }
  if (account === undefined) {
    return refuse('invalid_request', "a member needs an 'account'", { param: 'account' })
  }
  return (await findAccount(store.read, account)) ?? notFound('account', account)
}

async function changeFrom(
  engine: Engine,
  before: Person,
  body: z.infer<typeof changed>,
): Promise<PersonChange | Refusal> {
  const role = body.role ?? before.role
  const wanted = body.account ?? (body.account === null ? undefined : before.accountId)
  const account = await accountFor(engine, role, role === 'member' ? wanted : undefined)
  if (account instanceof Refusal) return account
  const hash = body.password === undefined ? undefined : await hashPassword(body.password)
  if (hash instanceof Refusal) return hash
  return {
    ...(body.role !== undefined && { role }),
    ...(account?.id !== before.accountId && { accountId: account?.id ?? null }),
    ...(body.disabled !== undefined && { disabled: body.disabled }),
    ...(hash !== undefined && { password: hash }),
  }
}

const accountNameOf = async ({ store }: Engine, { accountId }: Person) =>
  accountId === undefined ? undefined : (await findAccount(store.read, accountId))?.name

const viewOf = (person: Person, account?: string) => ({
  id: person.id,
  name: person.name,
  role: person.role,
  account: account ?? null,
  disabled: person.disabled,
  created_at: time(person.createdAtMs),
})

/** Who is signed in, and where: all that the console needs before its first page. */
const meView = (
  { engine }: AdminDeps,
  person: Person | undefined,
  account: string | undefined,
) => ({
  name: person?.name ?? '',
  role: person?.role ?? 'administrator',
  account: account ?? null,
  currency: engine.declared.file.currency,
  public_url: engine.publicUrl,
  environment: isSandboxOnly(engine) ? 'sandbox' : 'live',
})

/** Whether everything is answered by the simulator. */
const isSandboxOnly = ({ catalog }: Engine): boolean =>
  catalog.channels.every(({ source }) => source === 'builtin')

function withCookie(x: Exchange, cookie: string, body: object): Response {
  return answerJson(x, JSON.stringify(body), 200, { 'set-cookie': cookie })
}
