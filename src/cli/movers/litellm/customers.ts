// Teams, users and keys of LiteLLM's database as accounts and tokens. A key is known by its SHA-256 alone,
// which is enough for it to go on working.
import { asCidr } from '../../../contract/config-schema/index.ts'
import { isPlainName, wholePlainName } from '../../../lib/text/plain-name.ts'
import { misuse } from '../../terminal/stop.ts'
import { amountText, type Decimal, decimalOf, minus, plus, times, zero } from '../money.ts'
import { distinctNames, type Plan, sha256, type TokenDraft } from '../plan.ts'
import { isOn, listIn, numberIn, objectOf, type Row, type Tables, textIn } from '../rows.ts'
import { budgetOf } from './budgets.ts'

const table = (name: string): string => `LiteLLM_${name}`
const read = ['VerificationToken', 'TeamTable', 'UserTable', 'BudgetTable', 'ProxyModelTable']
const named = {
  OrganizationTable: 'organisations, with their budgets',
  ProjectTable: 'projects, with their budgets',
  EndUserTable: 'end users, with their budgets',
  TagTable: 'tags, with their budgets',
  TeamMembership: 'budgets of members in their teams',
  CredentialsTable: 'stored credentials, which are encrypted',
} as const

export const tableNames = [...read, 'DeprecatedVerificationToken', ...Object.keys(named)].map(table)

interface Owner {
  id: string
  name: string
  row: Row
  kind: 'team' | 'user'
}

export function addCustomers(plan: Plan, tables: Tables, rate: Decimal): void {
  const rows = (name: string): readonly Row[] => tables.get(table(name)) ?? []
  if (!tables.has(table('VerificationToken'))) {
    throw misuse('this is no database of LiteLLM: it has no table LiteLLM_VerificationToken')
  }
  const budgets = new Map(rows('BudgetTable').map((row) => [textIn(row, 'budget_id'), row]))
  const keys = rows('VerificationToken').map((row) => withBudget(row, budgets))
  const owners = ownersOf(rows('TeamTable'), rows('UserTable'), keys)
  const byOwner = Map.groupBy(keys, (key) => ownerId(key))
  for (const owner of owners.values()) addAccount(plan, owner, byOwner.get(owner.id) ?? [], rate)
  addTokens(plan, keys, owners, rate)
  addRetired(plan, rows('DeprecatedVerificationToken'), keys)
  for (const row of rows('ProxyModelTable')) {
    const reason = 'kept encrypted in the database: put it into the config file, or make a channel'
    plan.leave('model', textIn(row, 'model_name'), reason)
  }
  for (const [name, what] of Object.entries(named)) {
    const count = rows(name).length
    if (count > 0) plan.leave('setting', name, `${count} ${what}`)
  }
  const people = rows('UserTable').length
  if (people > 0) plan.leave('setting', 'people', `${people} sign-ins: invite people anew`)
}

/** A key without limits of its own has those of the budget that it names. */
function withBudget(key: Row, budgets: ReadonlyMap<string, Row>): Row {
  const budget = budgets.get(textIn(key, 'budget_id'))
  if (budget === undefined) return key
  const fields = [
    'max_budget',
    'budget_duration',
    'tpm_limit',
    'rpm_limit',
    'max_parallel_requests',
  ]
  return { ...key, ...Object.fromEntries(fields.map((name) => [name, key[name] ?? budget[name]])) }
}

/** Whose key it is: its team's, else its user's. */
function ownerId(key: Row): string {
  const [team, user] = [textIn(key, 'team_id'), textIn(key, 'user_id')]
  return team === '' ? `user ${user}` : `team ${team}`
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Every team, and each user who has a budget or a key of their own. */
function ownersOf(
  teams: readonly Row[],
  users: readonly Row[],
  keys: readonly Row[],
): Map<string, Owner> {
  const ids = new Set(keys.map(ownerId))
  const found = new Map<string, Omit<Owner, 'name'> & { wanted: string }>()
  for (const row of teams) {
    const id = textIn(row, 'team_id')
    const wanted = textIn(row, 'team_alias') || id
    found.set(`team ${id}`, { id: `team ${id}`, row, kind: 'team', wanted })
  }
  for (const row of users) {
    const [id, email] = [textIn(row, 'user_id'), textIn(row, 'user_email')]
    if (!ids.has(`user ${id}`) && row['max_budget'] == null) continue
    const wanted = textIn(row, 'user_alias') || (isUuid(id) && email !== '' ? email : id)
    found.set(`user ${id}`, { id: `user ${id}`, row, kind: 'user', wanted })
  }
  // Keys of teams and users that are no longer there, and keys without either.
  for (const id of ids) {
    if (found.has(id)) continue
    const [kind, rest = ''] = id.split(/ (.*)/s) as ['team' | 'user', string]
    found.set(id, { id, row: {}, kind, wanted: rest === '' ? 'litellm' : rest })
  }
  const names = distinctNames(
    [...found.values()].map(({ id, wanted }) => ({ id, name: wanted, otherwise: id })),
  )
  return new Map(
    [...found].map(([id, { wanted: _, ...rest }]) => [id, { ...rest, name: names.get(id)! }]),
  )
}

const maxDisplayed = 120

function addAccount(
  plan: Plan,
  { id, name, row, kind }: Owner,
  keys: readonly Row[],
  rate: Decimal,
): void {
  const shown = textIn(row, 'team_alias') || textIn(row, 'user_alias')
  const email = textIn(row, 'user_email')
  const budget = budgetOf(plan, 'account', name, row, rate)
  plan.accounts.push({
    name,
    ...(shown !== '' && shown !== name && { display_name: shown.slice(0, maxDisplayed) }),
    ...(/^[^\s@]+@[^\s@]+$/.test(email) && { email }),
    ...(budget !== undefined && budget.per !== 'total' && { budget }),
  })
  const left = leftOf(row)
  const ofKeys = keys.flatMap((key) => leftOf(key) ?? [])
  const credit = left ?? (ofKeys.length > 0 ? ofKeys.reduce(plus) : undefined)
  if (credit === undefined) {
    const reason = `the ${kind} has no max_budget, and so no opening credit: add credit, or its calls are refused`
    plan.leave('credit', name, reason)
  } else addCredit(plan, { id, name }, credit, rate)
  if (left === undefined && ofKeys.length > 0) {
    plan.change(
      'credit',
      name,
      `the ${kind} has no max_budget: what its keys have left is its credit`,
    )
  }
  const limits = ['tpm_limit', 'rpm_limit', 'max_parallel_requests'].filter(
    (each) => row[each] != null,
  )
  if (limits.length > 0)
    plan.leave('account', name, `${limits.join(', ')}: limits are of tokens here`)
  if (row['soft_budget'] != null) plan.leave('account', name, 'soft_budget: see balance_low')
  if (Object.keys(objectOf(row['model_max_budget'])).length > 0) {
    plan.leave('account', name, 'model_max_budget: budgets are not by model here')
  }
}

/** max_budget less spend; undefined where there is no max_budget. */
function leftOf(row: Row): Decimal | undefined {
  const whole = decimalOf(row['max_budget'])
  return whole === undefined ? undefined : minus(whole, decimalOf(row['spend']) ?? zero)
}

function addCredit(
  plan: Plan,
  { id, name }: Pick<Owner, 'id' | 'name'>,
  credit: Decimal,
  rate: Decimal,
): void {
  const amount = amountText(times(credit, rate))
  if (amount === '0.00')
    plan.change('credit', name, 'nothing is left of max_budget: no opening credit')
  else if (amount === undefined) plan.leave('credit', name, 'more than an account can have')
  else {
    const note = `opening credit from LiteLLM: max_budget less spend of ${id.slice(0, maxDisplayed)}`
    plan.credits.push({ account: name, amount, note, key: `import-litellm-${sha256(id)}` })
  }
}

function addTokens(
  plan: Plan,
  keys: readonly Row[],
  owners: ReadonlyMap<string, Owner>,
  rate: Decimal,
): void {
  const named = Map.groupBy(keys, ownerId)
  for (const [id, own] of named) {
    const owner = owners.get(id)!
    const names = distinctNames(
      own.map((key) => {
        const digest = textIn(key, 'token')
        return {
          id: digest,
          name: textIn(key, 'key_alias') || `key-${digest.slice(0, 8)}`,
          otherwise: `key-${digest.slice(0, 8)}`,
        }
      }),
    )
    for (const key of own) {
      const name = names.get(textIn(key, 'token'))!
      const token = tokenOf(plan, key, owner, name, rate)
      if (token !== undefined) plan.tokens.push(token)
    }
  }
}

function tokenOf(
  plan: Plan,
  key: Row,
  owner: Owner,
  name: string,
  rate: Decimal,
): TokenDraft | undefined {
  const digest = textIn(key, 'token')
  const called = `${owner.name}/${name}`
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    plan.leave('token', called, 'it is not kept as a SHA-256')
    return undefined
  }
  const alias = textIn(key, 'key_alias')
  if (alias !== '' && alias !== name) plan.change('token', called, `there it is called '${alias}'`)
  const models = modelsOf(plan, called, key, owner.row)
  const limits = limitsOf(plan, called, key)
  const budget = budgetOf(plan, 'token', called, key, rate)
  const isOff =
    isOn(key, 'blocked') || isOn(owner.row, 'blocked') || models === 'none' || limits === 'none'
  nameUnread(plan, called, key)
  const shown = textIn(key, 'key_name')
  const expires = timeOf(key['expires'])
  return {
    account: owner.name,
    name,
    token_sha256: digest,
    ...(/^sk-[A-Za-z0-9._-]{0,13}$/.test(shown) && { prefix: shown }),
    ...(Array.isArray(models) && { models }),
    ...(typeof limits === 'object' && { limits }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(budget !== undefined && { budget }),
    ...allowedIps(plan, called, key),
    ...(isOff && { disabled: true }),
  }
}

/** Times without a zone are UTC there. */
function timeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

const everything = new Set(['all-proxy-models', '*'])

/** Undefined: all; none: not even one. */
function modelsOf(plan: Plan, called: string, key: Row, owner: Row): string[] | 'none' | undefined {
  const ofOwner = patternsOf(listIn(owner, 'models'))
  const own = listIn(key, 'models')
  const ofKey = own.includes('all-team-models') ? ofOwner : patternsOf(own)
  const both =
    ofKey === undefined || ofOwner === undefined
      ? (ofKey ?? ofOwner)
      : ofKey.filter((name) => ofOwner.some((each) => covers(each, name)))
  if (both === undefined || both.length > 0) return both
  plan.change('token', called, 'it may use no model there: it is disabled')
  return 'none'
}

function patternsOf(models: readonly string[]): string[] | undefined {
  if (models.length === 0 || models.some((name) => everything.has(name))) return undefined
  return models
    .filter((name) => name !== 'no-default-models')
    .map((name) => {
      const isPattern = name.endsWith('*')
      const text = isPattern ? name.slice(0, -1) : name
      const here = isPlainName(text) ? text : wholePlainName(text)
      return isPattern ? `${here}*` : here
    })
}

const covers = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name

const limitNames = {
  rpm: 'rpm_limit',
  tpm: 'tpm_limit',
  concurrency: 'max_parallel_requests',
} as const

function limitsOf(plan: Plan, called: string, key: Row): TokenDraft['limits'] | 'none' {
  const found = Object.entries(limitNames).flatMap(([name, column]) => {
    const value = numberIn(key, column)
    return value === undefined ? [] : [[name, value] as const]
  })
  if (found.some(([, value]) => value < 1)) {
    plan.change('token', called, 'a limit of 0 lets nothing through: it is disabled')
    return 'none'
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function allowedIps(plan: Plan, called: string, key: Row): Pick<TokenDraft, 'allowed_ips'> {
  const listed = objectOf(key['metadata'])['allowed_ips']
  if (!Array.isArray(listed) || listed.length === 0) return {}
  const fit = listed.map(String).filter((each) => asCidr(each) !== undefined)
  if (fit.length < listed.length) plan.change('token', called, 'some allowed_ips are no addresses')
  return { allowed_ips: fit.length === 0 ? ['127.0.0.1'] : fit }
}

function nameUnread(plan: Plan, called: string, key: Row): void {
  const objects = ['aliases', 'config', 'permissions', 'model_max_budget', 'budget_limits']
  const lists = ['allowed_routes', 'policies', 'access_group_ids']
  const metadata = Object.keys(objectOf(key['metadata'])).filter((name) => name !== 'allowed_ips')
  const unread = [
    ...objects.filter((name) => Object.keys(objectOf(key[name])).length > 0),
    ...lists.filter((name) => listIn(key, name).length > 0),
    ...metadata.map((name) => `metadata.${name}`),
    ...(key['tpd_limit'] == null ? [] : ['tpd_limit']),
  ]
  if (unread.length > 0) plan.leave('token', called, unread.join(', '))
}

/** Former secrets of keys that were rotated and still work for a while. */
function addRetired(plan: Plan, rows: readonly Row[], keys: readonly Row[]): void {
  const byDigest = new Map(plan.tokens.map((token) => [token.token_sha256, token]))
  for (const row of rows) {
    const active = byDigest.get(textIn(row, 'active_token_id'))
    const ends = timeOf(row['revoke_at'])
    if (active === undefined || ends === undefined || Date.parse(ends) < Date.now()) continue
    const digest = textIn(row, 'token')
    const name = `${active.name.slice(0, 50)}-old-${digest.slice(0, 6)}`
    const { prefix: _, ...settings } = active
    plan.tokens.push({ ...settings, name, token_sha256: digest, expires_at: ends })
    if (active.budget != null && keys.length > 0) {
      plan.change(
        'token',
        `${active.account}/${name}`,
        'the former secret of a key has a budget of its own',
      )
    }
  }
}
