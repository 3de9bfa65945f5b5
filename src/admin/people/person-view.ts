// People as the admin API shows them.
import type { Person } from '../../contract/people.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { person as personSchema } from './person-schema.ts'

export const personFrom = (
  x: RequestContext,
  more: Pick<Person, 'name' | 'role' | 'accountId'>,
): Person => ({ id: newShortId('usr', x.atMs), disabled: false, createdAtMs: x.atMs, ...more })

export const accountNameOf = async ({ store }: BaseDeps, { accountId }: Person) =>
  accountId === undefined ? undefined : (await findAccount(store.read, accountId))?.name

export const personView = (person: Person, account?: string): View<typeof personSchema> => ({
  id: person.id,
  name: person.name,
  role: person.role,
  account: account ?? null,
  disabled: person.disabled,
  sign_in: person.subject === undefined ? 'password' : 'oidc',
  created_at: time(person.createdAtMs),
})
