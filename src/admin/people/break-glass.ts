// The one person who signs in with a password where passwords are off: the oldest administrator who has
// one and is not disabled. Disabled or removed, the next oldest takes their place.
import { refuse } from '../../contract/errors.ts'
import type { Person } from '../../contract/people.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { listPeople } from '../../store/catalog/people.ts'

const isCandidate = ({ role, disabled, subject }: Person): boolean =>
  role === 'administrator' && !disabled && subject === undefined

const isOlder = (a: Person, b: Person): boolean =>
  a.createdAtMs === b.createdAtMs ? a.id < b.id : a.createdAtMs < b.createdAtMs

/** Whether this person may have a session that a password has opened. */
export async function mayUsePassword(
  { store }: BaseDeps,
  person: Person,
  passwordsOff = false,
): Promise<boolean> {
  if (person.subject !== undefined) return false
  if (!passwordsOff) return true
  if (!isCandidate(person)) return false
  const all = (await listPeople(store.read)).filter(isCandidate)
  return all.every((each) => each.id === person.id || isOlder(person, each))
}

export const passwordElsewhere = refuse(
  'conflict',
  'this person signs in through the identity provider, which also decides on their role',
)

export const passwordsAreOff = refuse(
  'conflict',
  'passwords are off: people come by a group of the identity provider',
)
