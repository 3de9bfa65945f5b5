// Who may use a call of the admin API. A route names the roles; the administrator may do everything.
// Members see one account: what they ask for is narrowed to it, and what is not its own does not
// exist for them.
import type { Role, Viewer } from '../contract/people.ts'
import type { BaseDeps } from '../engine/base-deps.ts'
import { findAnyBatch } from '../store/batches/batches.ts'
import { findAccount } from '../store/catalog/accounts.ts'
import { findToken, ownerOfToken } from '../store/catalog/tokens.ts'
import { findBillLink } from '../store/ledger/bill-links.ts'
import { findRequest } from '../store/log/requests.ts'
import { findTaskRow } from '../store/tasks/tasks.ts'

/** What the id in the path is the name of, so that its owner can be found. */
type Owned = 'account' | 'token' | 'request' | 'task' | 'request or task' | 'bill link' | 'batch'

export interface Permission {
  /** Besides the administrator. */
  roles: readonly Role[]
  /** For members: which thing the path names. Without it, they get what belongs to their account. */
  owned?: Owned
  /** Needs no credential: the route checks for itself. */
  open?: true
  /** A browser comes to it from another site; the route checks that it was sent there from here. */
  crossSite?: true
}

const permit = (...roles: Role[]): Permission => ({ roles })

export const forAll = permit('operator', 'finance', 'member')
export const forStaff = permit('operator', 'finance')
export const forOperators = permit('operator')
export const forFinance = permit('finance')
export const forMembers = permit('member')
export const forAdministrators = permit()
export const forOperatorsAndMembers = permit('operator', 'member')
export const forFinanceAndMembers = permit('finance', 'member')
export const forAnyone: Permission = { roles: [], open: true }
export const forRedirects: Permission = { ...forAnyone, crossSite: true }

/** The same; members only for what is their account's own. */
export const owning = (permission: Permission, owned: Owned): Permission => ({
  ...permission,
  owned,
})

type Verdict = 'yes' | 'no' | 'unknown'

/** `unknown`: as if it were not there. `id` is the name in the path. */
export async function judge(
  engine: BaseDeps,
  viewer: Viewer,
  permission: Permission,
  { id, query }: { id: string; query: Iterable<[string, string]> },
): Promise<Verdict> {
  if (viewer.role === 'administrator') return 'yes'
  if (!permission.roles.includes(viewer.role)) return 'no'
  if (viewer.role !== 'member') return 'yes'
  if (!(await namesOwn(engine, viewer, query))) return 'unknown'
  if (permission.owned === undefined) return 'yes'
  const owner = await ownerOf(engine, permission.owned, id)
  return owner !== undefined && owner === viewer.accountId ? 'yes' : 'unknown'
}

/**
 * Whether all that a list is narrowed to is the member's own. Channels belong to no account: which
 * one served a request is the operator's to know.
 */
async function namesOwn(
  { store }: BaseDeps,
  { accountId }: Viewer,
  filters: Iterable<[string, string]>,
): Promise<boolean> {
  for (const [name, value] of filters) {
    if (name === 'channel') return false
    if (name === 'account' && (await findAccount(store.read, value))?.id !== accountId) return false
    if (name === 'token' && (await ownerOfToken(store.read, value)) !== accountId) return false
  }
  return true
}

async function ownerOf(
  { store, clock }: BaseDeps,
  owned: Owned,
  id: string,
): Promise<string | undefined> {
  const ofTask = async () => (await findTaskRow(store.read, id))?.accountId
  const ofRequest = async () => (await findRequest(store.read, id)).at(-1)?.accountId
  switch (owned) {
    case 'account':
      return (await findAccount(store.read, id))?.id
    case 'token':
      return (await findToken(store.read, id))?.accountId
    case 'task':
      return ofTask()
    case 'request':
      return ofRequest()
    case 'request or task':
      return (await ofTask()) ?? (await ofRequest())
    case 'batch':
      return (await findAnyBatch(store.read, id))?.accountId
    case 'bill link':
      return (await findBillLink(store.read, id, clock.nowMs()))?.accountId
  }
}
