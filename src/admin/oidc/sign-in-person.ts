// The person behind an identity: created with the first sign-in, and with the role of their groups after
// every one. Found by issuer and subject alone: names and addresses can be chosen, and would take over
// another person.
import { createHash } from 'node:crypto'
import { isReservedName, type OidcGroup, type Person } from '../../contract/people.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { type Account, findAccount } from '../../store/catalog/accounts.ts'
import { revokeLinksBy } from '../../store/catalog/invitations.ts'
import {
  endSessionsOf,
  insertPerson,
  lockPeople,
  updatePerson,
} from '../../store/catalog/people.ts'
import type { Tx } from '../../store/index.ts'
import { auditChange } from '../answers.ts'
import { personFrom, personView } from '../people/person-view.ts'
import type { Identity } from './provider.ts'

/** Why a person with a valid identity does not come in. */
type Refused = 'no_group' | 'no_account' | 'disabled'

interface Rights {
  role: Person['role']
  account?: Account
}

export async function signInPerson(
  engine: BaseDeps,
  x: RequestContext,
  identity: Identity,
  groups: readonly OidcGroup[],
): Promise<Person | Refused> {
  const rights = await rightsOf(engine, identity, groups)
  return engine.store.tx(async (tx) => {
    const all = await lockPeople(tx)
    const known = all.find(({ subject }) => subject === identity.subject)
    if (typeof rights === 'string') {
      // What they could do until now ends as well.
      if (known !== undefined) await endSessionsOf(tx, known.id)
      return rights
    }
    if (known === undefined) return create(tx, x, identity, rights, all)
    if (known.disabled) return 'disabled'
    return follow(tx, x, known, rights)
  })
}

/** By the first group of the setting that the person is in. */
async function rightsOf(
  { store }: BaseDeps,
  identity: Identity,
  groups: readonly OidcGroup[],
): Promise<Rights | Refused> {
  const found = groups.find(({ group }) => identity.groups.includes(group))
  if (found === undefined) return 'no_group'
  const { role, account: named } = found
  if (named === undefined) return { role }
  const account = await findAccount(store.read, named)
  return account === undefined ? 'no_account' : { role, account }
}

async function create(
  tx: Tx,
  x: RequestContext,
  identity: Identity,
  { role, account }: Rights,
  all: readonly Person[],
): Promise<Person> {
  const person: Person = {
    ...personFrom(x, {
      name: nameFor(identity, new Set(all.map(({ name }) => name))),
      role,
      ...(account !== undefined && { accountId: account.id }),
    }),
    subject: identity.subject,
  }
  await insertPerson(tx, { ...person, password: '' })
  const after = personView(person, account?.name)
  await auditChange(tx, x, { action: 'person.create', subject: person.id, after })
  return person
}

/** A role or an account that has changed ends the sessions that had the former one. */
async function follow(
  tx: Tx,
  x: RequestContext,
  known: Person,
  { role, account }: Rights,
): Promise<Person> {
  if (known.role === role && known.accountId === account?.id) return known
  const { accountId: _, ...rest } = known
  const person: Person = { ...rest, role, ...(account !== undefined && { accountId: account.id }) }
  await updatePerson(tx, known.id, { role, accountId: account?.id ?? null })
  await endSessionsOf(tx, known.id)
  if (role !== 'administrator') await revokeLinksBy(tx, known.id)
  const [before, after] = [personView(known), personView(person, account?.name)]
  await auditChange(tx, x, { action: 'person.change', subject: known.id, before, after })
  return person
}

const maxName = 90

/** A name that no person has; the same identity is always offered the same ones. */
function nameFor({ names, subject }: Identity, taken: ReadonlySet<string>): string {
  const mark = createHash('sha256').update(subject).digest('hex').slice(0, 8)
  const clean = names
    .map((name) =>
      name
        .toLowerCase()
        .replace(/[^\w.@+-]/g, '-')
        .slice(0, maxName),
    )
    .filter((name) => /[a-z0-9]/.test(name) && name.length > 1 && !isReservedName(name))
  const [first = 'person'] = clean
  const free = [...clean, `${first}+${mark}`].find((name) => !taken.has(name))
  return free ?? newShortId('person')
}
