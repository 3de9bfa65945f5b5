// People who sign in to the console: added, changed and removed by an administrator.
import { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Person } from '../../contract/people.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { revokeLinksBy, revokePasswordLinks } from '../../store/catalog/invitations.ts'
import {
  deletePerson,
  endSessionsOf,
  findPerson,
  insertPerson,
  listPeople,
  lockPeople,
  type PersonChange,
  updatePerson,
} from '../../store/catalog/people.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { auditChange, notFound } from '../answers.ts'
import { forAdministrators } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { accountFor } from './account-for.ts'
import { passwordElsewhere, passwordsAreOff } from './break-glass.ts'
import { hashPassword } from './passwords.ts'
import { newPerson, personChange, personList, person as personSchema } from './person-schema.ts'
import { accountNameOf, personFrom, personView } from './person-view.ts'

async function listAll({ engine }: Ask) {
  const found = await listPeople(engine.store.read)
  const items = await Promise.all(
    found.map(async (person) => personView(person, await accountNameOf(engine, person))),
  )
  return { items, next_cursor: null }
}

async function add({ engine, deps, body, x }: Ask<{ body: typeof newPerson }>) {
  // A further administrator can take the place of the break-glass one.
  if (deps.oidc?.settings.only === true && body.role !== 'administrator') return passwordsAreOff
  const account = await accountFor(engine, body.role, body.account)
  if (account instanceof Refusal) return account
  const person = personFrom(x, {
    name: body.name,
    role: body.role,
    ...(account !== undefined && { accountId: account.id }),
  })
  const hash = await hashPassword(body.password)
  if (hash instanceof Refusal) return hash
  const after = personView(person, account?.name)
  try {
    await engine.store.tx(async (tx) => {
      await insertPerson(tx, { ...person, password: hash })
      await auditChange(tx, x, { action: 'person.create', subject: person.id, after })
    })
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return refuse('conflict', `there is a '${body.name}' already`, { param: 'name' })
  }
  return after
}

async function update({
  engine,
  id,
  found: before,
  body,
  x,
}: Ask<{ body: typeof personChange; found: Person }>) {
  const { disabled: _, ...rest } = body
  if (before.subject !== undefined && Object.keys(rest).length > 0) return passwordElsewhere
  const change = await changeFrom(engine, before, body)
  if (change instanceof Refusal) return change
  return engine.store.tx(async (tx) => {
    const all = await lockPeople(tx)
    // As they are now: another administrator may have changed or removed them meanwhile.
    const now = all.find((each) => each.id === id)
    if (now === undefined) return notFound('person', id)
    const { role = now.role, disabled = now.disabled } = change
    const others = all.filter((each) => each.id !== id)
    if (losesAll(all, [...others, { ...now, role, disabled }])) return lastAdministrator
    await updatePerson(tx, id, change)
    // The links of a former administrator would create other ones.
    if (role !== 'administrator' || disabled) await revokeLinksBy(tx, id)
    if (change.password !== undefined || disabled) await revokePasswordLinks(tx, id)
    // What they may do has changed: they sign in anew.
    if (Object.keys(change).length > 0) await endSessionsOf(tx, id)
    const person = (await findPerson(tx, id))!
    const after = personView(person, await accountNameOf(engine, person))
    const action = body.password === undefined ? 'person.change' : 'person.password'
    await auditChange(tx, x, { action, subject: id, before: personView(before), after })
    return after
  })
}

async function remove({ engine, id, found, x }: Ask<{ found: Person }>) {
  return engine.store.tx(async (tx) => {
    const all = await lockPeople(tx)
    const others = all.filter((each) => each.id !== id)
    if (losesAll(all, others)) return lastAdministrator
    await deletePerson(tx, id)
    await revokeLinksBy(tx, id)
    await revokePasswordLinks(tx, id)
    const change = { action: 'person.delete', subject: id, before: personView(found) }
    await auditChange(tx, x, change)
    return { deleted: true as const }
  })
}

const hasAdministrator = (all: readonly Person[]): boolean =>
  all.some(({ role, disabled }) => role === 'administrator' && !disabled)

/** Where there was none, the admin token runs the gateway, and the others may be changed. */
const losesAll = (before: readonly Person[], after: readonly Person[]): boolean =>
  hasAdministrator(before) && !hasAdministrator(after)

const lastAdministrator = refuse(
  'conflict',
  'the gateway needs an administrator who is not disabled',
)

async function changeFrom(
  engine: BaseDeps,
  before: Person,
  body: z.infer<typeof personChange>,
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

const password = 'correct-horse-battery'

const route = routesOf({
  tag: 'People',
  thing: 'person',
  permission: forAdministrators,
  find: ({ store }, id) => findPerson(store.read, id),
})

export const peopleRoutes = [
  route('GET /people', {
    id: 'listPeople',
    summary: 'List people',
    answer: personList,
    returns: 'All of them.',
    handle: listAll,
  }),
  route('POST /people', {
    id: 'addPerson',
    summary: 'Add a person',
    body: newPerson,
    examples: {
      administrator: { name: 'example-admin', password, role: 'administrator' },
      operator: { name: 'example-person', password, role: 'operator' },
    },
    answer: personSchema,
    status: 201,
    refusals: ['conflict', 'not_found'],
    handle: add,
  }),
  route('PATCH /people/:id', {
    id: 'changePerson',
    summary: 'Change what a person may do',
    body: personChange,
    examples: { finance: { role: 'finance' } },
    answer: personSchema,
    refusals: ['conflict'],
    handle: update,
  }),
  route('DELETE /people/:id', {
    id: 'deletePerson',
    summary: 'Remove a person',
    answer: z.object({ deleted: z.literal(true) }),
    returns: 'They are gone.',
    refusals: ['conflict'],
    handle: remove,
  }),
]
