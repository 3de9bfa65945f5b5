// Users of new-api as accounts and their tokens as tokens. What a user has left is the account's credit;
// what a token has left is a limit inside of it, so it is a budget and no credit.
import { asCidr } from '../../../contract/config-schema/index.ts'
import { isPlainName, wholePlainName } from '../../../lib/text/plain-name.ts'
import { distinctNames, type Plan, sha256, type TokenDraft } from '../plan.ts'
import { isOn, numberIn, type Row, textIn } from '../rows.ts'
import type { QuotaReader } from './quota.ts'

/** Accounts of each group. */
export type Groups = Map<string, string[]>

const tokenStates = { off: 2, expired: 3, exhausted: 4 } as const
const maxShown = 8

export function addCustomers(
  plan: Plan,
  users: readonly Row[],
  tokens: readonly Row[],
  quota: QuotaReader,
): Groups {
  const present = users.filter((row) => row['deleted_at'] == null)
  const names = distinctNames(
    present.map((row) => {
      const id = String(numberIn(row, 'id'))
      return { id, name: textIn(row, 'username'), otherwise: `user-${id}` }
    }),
  )
  const groups: Groups = new Map()
  const owned = Map.groupBy(
    tokens.filter((row) => row['deleted_at'] == null),
    (row) => String(numberIn(row, 'user_id')),
  )
  for (const user of present) {
    const id = String(numberIn(user, 'id'))
    const name = names.get(id)!
    addAccount(plan, user, { id, name }, quota)
    const group = textIn(user, 'group') || 'default'
    groups.set(group, [...(groups.get(group) ?? []), name])
    addTokens(plan, owned.get(id) ?? [], { user, name, group }, quota)
    owned.delete(id)
  }
  const lost = [...owned.values()].flat().length
  if (lost > 0) plan.leave('token', 'tokens', `${lost} of users who are deleted`)
  return groups
}

const maxDisplayed = 120

function addAccount(
  plan: Plan,
  user: Row,
  { id, name }: { id: string; name: string },
  quota: QuotaReader,
): void {
  const shown = textIn(user, 'display_name') || textIn(user, 'username')
  const email = textIn(user, 'email')
  plan.accounts.push({
    name,
    ...(shown !== '' && shown !== name && { display_name: shown.slice(0, maxDisplayed) }),
    ...(/^[^\s@]+@[^\s@]+$/.test(email) && { email }),
  })
  const left = numberIn(user, 'quota') ?? 0
  if (left < 0) {
    const debt = quota(-left) ?? 'a large amount'
    plan.change(
      'credit',
      name,
      `it owes ${debt}: it begins with nothing, and the debt is not carried`,
    )
  }
  const amount = quota(Math.max(left, 0))
  if (amount === undefined) plan.leave('credit', name, 'more than an account can have')
  else if (amount !== '0.00') {
    const note = `opening credit from new-api: quota of user ${id}`
    plan.credits.push({ account: name, amount, note, key: `import-new-api-user-${id}` })
  }
}

interface Owner {
  user: Row
  name: string
  group: string
}

function addTokens(plan: Plan, rows: readonly Row[], owner: Owner, quota: QuotaReader): void {
  const names = distinctNames(
    rows.map((row) => {
      const id = String(numberIn(row, 'id'))
      return { id, name: textIn(row, 'name'), otherwise: `token-${id}` }
    }),
  )
  for (const row of rows) {
    const name = names.get(String(numberIn(row, 'id')))!
    const token = tokenOf(plan, row, owner, name, quota)
    if (token !== undefined) plan.tokens.push(token)
  }
}

function tokenOf(
  plan: Plan,
  row: Row,
  { user, name: account, group }: Owner,
  name: string,
  quota: QuotaReader,
): TokenDraft | undefined {
  const called = `${account}/${name}`
  // MySQL and PostgreSQL may fill it up with blanks.
  const key = textIn(row, 'key').trim()
  if (key === '') {
    plan.leave('token', called, 'it has no key')
    return undefined
  }
  const own = textIn(row, 'group')
  if (own !== '' && own !== group) {
    plan.leave('token', called, `its group ${own}: prices are those of its account`)
  }
  const secret = key.startsWith('sk-') ? key : `sk-${key}`
  const models = modelsOf(plan, called, row)
  const ips = ipsOf(plan, called, row)
  const status = numberIn(row, 'status')
  const isOff = status === tokenStates.off || numberIn(user, 'status') !== 1 || models === 'none'
  const expires = expiryOf(row, status)
  const budget = budgetOf(plan, called, row, quota)
  const prefix = secret.slice(0, maxShown)
  return {
    account,
    name,
    token_sha256: sha256(secret),
    ...(/^sk-[A-Za-z0-9._-]*$/.test(prefix) && { prefix }),
    ...(Array.isArray(models) && { models }),
    ...(ips.length > 0 && { allowed_ips: ips }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(budget !== undefined && { budget }),
    ...(isOff && { disabled: true }),
  }
}

/** The end of the year 9999, past which milliseconds given for seconds lie. */
const maxSeconds = 253_402_300_799

/** Seconds; -1 and 0 are never, and so is what no one lives to see. One marked as expired has expired. */
function expiryOf(row: Row, status: number | undefined): string | undefined {
  const seconds = numberIn(row, 'expired_time') ?? -1
  if (seconds > maxSeconds) return undefined
  if (seconds > 0) return new Date(seconds * 1_000).toISOString()
  return status === tokenStates.expired ? new Date(0).toISOString() : undefined
}

function budgetOf(
  plan: Plan,
  called: string,
  row: Row,
  quota: QuotaReader,
): TokenDraft['budget'] | undefined {
  if (isOn(row, 'unlimited_quota')) return undefined
  const isSpent = numberIn(row, 'status') === tokenStates.exhausted
  const left = isSpent ? 0 : (numberIn(row, 'remain_quota') ?? 0)
  const amount = quota(Math.max(left, 0))
  if (amount !== undefined) return { amount, per: 'total' }
  plan.change('token', called, 'its quota is more than a budget can be: it has no budget')
  return undefined
}

function modelsOf(plan: Plan, called: string, row: Row): string[] | 'none' | undefined {
  if (!isOn(row, 'model_limits_enabled')) return undefined
  const names = textIn(row, 'model_limits')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => (isPlainName(each) ? each : wholePlainName(each)))
  if (names.length > 0) return [...new Set(names)]
  plan.change('token', called, 'it may use no model there: it is disabled')
  return 'none'
}

/** One in each line; a line that is no address lets no caller in there, either. */
function ipsOf(plan: Plan, called: string, row: Row): string[] {
  const lines = textIn(row, 'allow_ips')
    .split(/[\n,]/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const fit = lines.filter((each) => asCidr(each) !== undefined)
  if (fit.length === lines.length) return fit
  plan.change('token', called, 'some lines of allow_ips are no addresses')
  return fit.length === 0 ? ['127.0.0.1'] : fit
}
