// The account that a role comes with: members have one, other roles do not.
import { refuse } from '../../contract/errors.ts'
import type { Role } from '../../contract/people.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { notFound } from '../answers.ts'

export async function accountFor({ store }: BaseDeps, role: Role, account: string | undefined) {
  if (role !== 'member') {
    if (account === undefined) return undefined
    return refuse('invalid_request', "only members have an 'account'", { param: 'account' })
  }
  if (account === undefined) {
    return refuse('invalid_request', "a member needs an 'account'", { param: 'account' })
  }
  return (await findAccount(store.read, account)) ?? notFound('account', account)
}
