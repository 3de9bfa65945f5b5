// Who may use which call of the admin API. Deny by default: a call that is not in this table is the
// administrator's alone. Members see one account: what they ask for is narrowed to it, and what is
// not its own does not exist for them.
import type { Role, Viewer } from '../contract/people.ts'
import type { Engine } from '../engine/engine.ts'
import { findAccount } from '../store/catalog/accounts.ts'
import { findToken, ownerOfToken } from '../store/catalog/tokens.ts'
import { findRequest } from '../store/log/requests.ts'
import { findTaskRow } from '../store/tasks/tasks.ts'
import { adminRoutes } from './routes.ts'

/** What the id in the path is the name of, so that its owner can be found. */
type Kind = 'account' | 'token' | 'request' | 'task' | 'any'

interface Rule {
  roles: readonly Role[]
  /** For members: which thing the path names. Without it, they get what belongs to their account. */
  names?: Kind
}

const all: readonly Role[] = ['operator', 'finance', 'member']
const staff: readonly Role[] = ['operator', 'finance']
const operators: readonly Role[] = ['operator']
const finance: readonly Role[] = ['finance']
const rule = (roles: readonly Role[], names?: Kind): Rule =>
  names === undefined ? { roles } : { roles, names }

/** Method and path as it is routed. The administrator may do everything. */
const legacy: Readonly<Record<string, Rule>> = {
  'GET /session': rule(all),
  'DELETE /session': rule(all),
  'POST /session/password': rule(all),
  'GET /accounts': rule(all),
  'GET /accounts/:id': rule(all, 'account'),
  'GET /accounts/:id/ledger': rule(all, 'account'),
  'GET /accounts/:id/prices': rule(all, 'account'),
  'POST /accounts/:id/credits': rule(finance),
  'GET /tokens': rule(['operator', 'member']),
  'GET /tokens/:id': rule(['operator', 'member'], 'token'),
  'POST /tokens': rule(['operator', 'member']),
  'PATCH /tokens/:id': rule(['operator', 'member'], 'token'),
  'DELETE /tokens/:id': rule(['operator', 'member'], 'token'),
  'POST /tokens/:id/rotate': rule(['operator', 'member'], 'token'),
  'GET /channels': rule(operators),
  'GET /channels/:id': rule(operators),
  'POST /channels': rule(operators),
  'PATCH /channels/:id': rule(operators),
  'DELETE /channels/:id': rule(operators),
  'POST /channels/:id/test': rule(operators),
  'POST /channels/test': rule(operators),
  'POST /channels/:id/discover': rule(operators),
  'POST /channels/import': rule(operators),
  'GET /models': rule(all),
  'PUT /models/:id': rule(operators),
  // For a member: what is its account's own.
  'GET /prices': rule(all),
  'POST /prices': rule(finance),
  'GET /requests': rule(all),
  'GET /requests/:id': rule(all, 'request'),
  'GET /explain/:id': rule(all, 'any'),
  'GET /bills': rule(['finance', 'member']),
  'GET /bills/months': rule(['finance', 'member']),
  'GET /bills/statement': rule(['finance', 'member']),
  'GET /bills/accounts': rule(finance),
  'POST /bills/close': rule(finance),
  'GET /usage': rule(all),
  'GET /traffic': rule(all),
  'GET /losses': rule(staff),
  'GET /losses/summary': rule(staff),
  'GET /statements': rule(finance),
  'POST /statements': rule(finance),
  'GET /statements/:id': rule(finance),
  'GET /statements/:id/lines': rule(finance),
  'GET /statements/:id/export': rule(finance),
  'DELETE /statements/:id': rule(finance),
  'GET /prices/export': rule(staff),
  'POST /prices/import': rule(finance),
  'POST /prices/preview': rule(finance),
  'GET /alerts': rule(staff),
  'POST /audit': rule(finance),
  'GET /health': rule(staff),
  // Which lists one may export is what one may see of them; exports.ts asks this table again.
  'GET /exports': rule(all),
  'POST /exports': rule(all),
  'GET /exports/:id': rule(all),
  'GET /exports/:id/file': rule(all),
  'DELETE /exports/:id': rule(all),
}

const fromRoutes = Object.fromEntries(
  adminRoutes.map(({ method, path, permission: { roles, owned } }) => [
    `${method.toUpperCase()} ${path}`,
    rule(roles, owned === 'request or task' ? 'any' : owned),
  ]),
)
export const rules: Readonly<Record<string, Rule>> = { ...legacy, ...fromRoutes }

/** The routed path that takes it, or none. */
export function ruleFor(method: string, path: string): Rule | undefined {
  const given = path.split('/')
  for (const [key, found] of Object.entries(rules)) {
    const [verb, pattern = ''] = key.split(' ')
    const wanted = pattern.split('/')
    if (verb !== method || wanted.length !== given.length) continue
    if (wanted.every((part, i) => part === given[i] || part.startsWith(':'))) return found
  }
  return undefined
}

export type Verdict = 'yes' | 'no' | 'unknown'

/** `unknown`: as if it were not there. */
export async function judge(
  engine: Engine,
  viewer: Viewer,
  { method, path, query }: { method: string; path: string; query: Iterable<[string, string]> },
): Promise<Verdict> {
  if (viewer.role === 'administrator') return 'yes'
  const found = ruleFor(method, path)
  if (found === undefined || !found.roles.includes(viewer.role)) return 'no'
  if (viewer.role !== 'member') return 'yes'
  if (!(await namesOwn(engine, viewer, query))) return 'unknown'
  if (found.names === undefined) return 'yes'
  const id = decoded(path.split('/')[2] ?? '')
  const owner = await ownerOf(engine, found.names, id)
  return owner !== undefined && owner === viewer.accountId ? 'yes' : 'unknown'
}

/**
 * Whether all that a list is narrowed to is the member's own. Channels are nobody's own: which one
 * served a request is the operator's to know.
 */
export async function namesOwn(
  { store }: Engine,
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

/** What is spelled wrong names nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

async function ownerOf({ store }: Engine, kind: Kind, id: string): Promise<string | undefined> {
  switch (kind) {
    case 'account':
      return (await findAccount(store.read, id))?.id
    case 'token':
      return (await findToken(store.read, id))?.accountId
    case 'task':
      return (await findTaskRow(store.read, id))?.accountId
    case 'request':
      return (await findRequest(store.read, id)).at(-1)?.accountId
    case 'any':
      return (
        (await findTaskRow(store.read, id))?.accountId ??
        (await findRequest(store.read, id)).at(-1)?.accountId
      )
  }
}
