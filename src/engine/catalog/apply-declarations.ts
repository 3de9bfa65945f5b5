// Applies the declarations of gateway.yaml to the store: accounts with their opening balance,
// tokens, price versions. Idempotent, so it runs at every start and reload; tokens and prices take
// effect together or not at all.
import { builtinPrices } from '../../catalog/builtin.ts'
import type { Source } from '../../contract/catalog.ts'
import { accountSettingsFrom } from '../../contract/config-schema/account-settings.ts'
import { requirementFrom } from '../../contract/config-schema/channel/data.ts'
import {
  type CostDeclaration,
  type FileDeclaration,
  nearestName,
  type PriceDeclaration,
  startOf,
  type TokenDeclaration,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { undeclaredTag } from '../../contract/config-schema/tags.ts'
import { translationFrom } from '../../contract/config-schema/translation.ts'
import type { Price } from '../../contract/price.ts'
import { newSecret, newShortId } from '../../lib/crypto/ids.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { parseNanos } from '../../lib/text/decimal.ts'
import { editDistance } from '../../lib/text/edit-distance.ts'
import { accountNames, findAccount, updateAccount } from '../../store/catalog/accounts.ts'
import { loadChannels } from '../../store/catalog/channels.ts'
import { loadModels } from '../../store/catalog/models.ts'
import { insertPrice, loadCosts, loadPrices } from '../../store/catalog/prices.ts'
import {
  insertToken,
  isIssued,
  loadTokens,
  revokeToken,
  updateToken,
} from '../../store/catalog/tokens.ts'
import { isUniqueConflict, type Tx } from '../../store/index.ts'
import { loadBudgets } from '../../store/ledger/budgets.ts'
import { applyAccountBudgets, setTokenBudget } from './account-budgets.ts'
import { lastVersion, misfitsIn, saysTheSame, whoseOf } from './declared-prices.ts'
import { applyWebhooks } from './declared-webhooks.ts'
import { type AccountDeps, openAccount } from './open-account.ts'

/** It is there without being declared. */
const sandboxName = 'sandbox'

export interface DeclarationDeps extends AccountDeps {
  readonly seal: Seal
}

export interface MadeToken {
  account: string
  name: string
  secret: string
  /** It signs the notices to this address, and is no token. */
  address?: string
}

/** A declaration that cannot be applied; one sentence. */
export class DeclarationRefused extends Error {
  /** The setting of the file that is wrong, where it is one. */
  readonly at: readonly (string | number)[] | undefined

  constructor(message: string, at?: readonly (string | number)[]) {
    super(message)
    this.at = at
  }
}

/** The generated secrets, to be shown once. */
export async function applyDeclarations(
  deps: DeclarationDeps,
  file: FileDeclaration,
): Promise<MadeToken[]> {
  await refuseImpossible(deps, file)
  for (const { name, balance, ...declared } of file.accounts) {
    const settings = accountSettingsFrom(declared)
    const known = await findAccount(deps.store.read, name)
    if (known !== undefined) {
      await deps.store.tx((tx) => updateAccount(tx, known.id, settings))
      continue
    }
    const balanceNanos = parseNanos(balance ?? '0')!
    await openAccount(deps, { name, source: 'file', balanceNanos, ...settings })
  }
  try {
    return await deps.store.tx(async (tx) => {
      await applyBudgets(tx, file)
      const made = await applyTokens(deps, tx, file.tokens)
      await applyPrices(deps, tx, builtinPrices, 'builtin')
      await applyPrices(deps, tx, file.prices, 'file')
      await applyPrices(deps, tx, file.costs, 'file')
      const secrets = await applyWebhooks(deps, tx, file)
      return [...made, ...secrets.map((each) => ({ account: '', name: '', ...each }))]
    })
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    throw new DeclarationRefused('a declared token has the name or the secret of another token')
  }
}

async function applyBudgets(tx: Tx, { accounts }: FileDeclaration): Promise<void> {
  for (const declared of accounts) {
    const { id } = (await findAccount(tx, declared.name))!
    await applyAccountBudgets(tx, id, declared)
  }
}

/** All user errors are detected before anything is changed. */
async function refuseImpossible(deps: DeclarationDeps, file: FileDeclaration): Promise<void> {
  const { read } = deps.store
  const [misfit] = misfitsIn(file, await loadModels(read))
  if (misfit !== undefined) throw new DeclarationRefused(misfit.says, misfit.at)
  for (const [index, { model, account: payer }] of file.prices.entries()) {
    if (payer === undefined || file.accounts.some(({ name }) => name === payer)) continue
    if ((await findAccount(read, payer)) !== undefined) continue
    throw new DeclarationRefused(
      `the price of '${model}' names ${await noAccount(deps, file, payer)}`,
      ['prices', index, 'account'],
    )
  }
  const channels = [...file.channels, ...(await loadChannels(read))].map((channel) => channel.name)
  for (const [index, { model, channel }] of file.costs.entries()) {
    if (channel === sandboxName || channels.includes(channel)) continue
    const says = `the cost of '${model}' names the channel '${channel}', which does not exist`
    throw new DeclarationRefused(says + slip(channel, channels), ['costs', index, 'channel'])
  }
  for (const [index, { account: payer, name, token: secret, tags }] of file.tokens.entries()) {
    const refused = (message: string, setting: string) =>
      new DeclarationRefused(message, ['tokens', index, setting])
    const account = await findAccount(read, payer)
    const declared = file.accounts.find((each) => each.name === payer)
    if (account === undefined && declared === undefined) {
      throw refused(`token '${name}' names ${await noAccount(deps, file, payer)}`, 'account')
    }
    const untaken = undeclaredTag(tags, declared?.tag_names ?? account?.tagNames)
    if (untaken !== undefined) throw refused(`token '${name}': ${untaken}`, 'tags')
    if (account !== undefined && (await isIssued(read, { accountId: account.id, name }))) {
      const says = `account '${payer}' has a token '${name}' from the admin API; choose another name`
      throw refused(says, 'name')
    }
    if (secret !== undefined && (await isIssued(read, { hash: deps.seal.hash(secret) }))) {
      throw refused(`the secret of token '${name}' belongs to a token from the admin API`, 'token')
    }
  }
}

async function noAccount(
  { store }: DeclarationDeps,
  { accounts }: FileDeclaration,
  name: string,
): Promise<string> {
  const stored = [...(await accountNames(store.read)).values()]
  const hint = slip(name, [...accounts.map((each) => each.name), ...stored])
  return `the account '${name}', which does not exist${hint}`
}

/** The name that was probably meant. */
function slip(name: string, known: readonly string[]): string {
  const near = nearestName(name, known) ?? ''
  const isSlip = editDistance(name, near) <= Math.ceil(name.length / 3)
  return isSlip ? `; did you mean '${near}'?` : ''
}

async function applyTokens(
  deps: DeclarationDeps,
  tx: Tx,
  declarations: readonly TokenDeclaration[],
): Promise<MadeToken[]> {
  const nowMs = deps.clock.nowMs()
  const stored = await loadTokens(tx, 'file')
  const kept = new Map<string, TokenDeclaration>()
  const fresh: Fresh[] = []
  for (const declared of declarations) {
    const accountId = (await findAccount(tx, declared.account))!.id
    const before = stored.find((t) => t.accountId === accountId && t.name === declared.name)
    const hash = declared.token === undefined ? before?.hash : deps.seal.hash(declared.token)
    if (before !== undefined && hash === before.hash) kept.set(before.id, declared)
    else fresh.push({ declared, accountId, lineage: before?.lineage ?? before?.id })
  }
  // Ends come first: a name or a secret may move from one token to another.
  const budgeted = new Set((await loadBudgets(tx)).map(({ id }) => id))
  for (const token of stored) {
    const declared = kept.get(token.id)
    if (declared === undefined) await revokeToken(tx, token.id, nowMs)
    else {
      await updateToken(tx, token.id, changeOf(declared))
      await setTokenBudget(tx, token, declared, budgeted)
    }
  }
  const made: MadeToken[] = []
  for (const { declared, ...of } of fresh) {
    const { account, name, token } = declared
    const secret = token ?? newSecret('sk-')
    await addToken(deps, tx, { declared, ...of, secret, nowMs })
    if (token === undefined) made.push({ account, name, secret })
  }
  return made
}

interface Fresh {
  declared: TokenDeclaration
  accountId: string
  /** The token of the same name that had another secret: both spend one budget. */
  lineage: string | undefined
}

async function addToken(
  deps: DeclarationDeps,
  tx: Tx,
  { declared, accountId, lineage, secret, nowMs }: Fresh & { secret: string; nowMs: number },
): Promise<void> {
  const { expiresAtMs, translation, fallback, tags, require: policy, ...rest } = changeOf(declared)
  const id = newShortId('tok', nowMs)
  await insertToken(tx, {
    id,
    accountId,
    ...(lineage !== undefined && { lineage }),
    name: declared.name,
    hash: deps.seal.hash(secret),
    prefix: secret.slice(0, 8),
    ...rest,
    ...(expiresAtMs !== null && { expiresAtMs }),
    ...(translation !== null && { translation }),
    ...(tags !== null && { tags }),
    ...(fallback !== null && { fallback }),
    ...(policy !== null && { require: policy }),
    disabled: false,
    source: 'file',
    createdAtMs: nowMs,
  })
  const token = { id, accountId, ...(lineage !== undefined && { lineage }) }
  await setTokenBudget(tx, token, declared)
}

const changeOf = (declared: TokenDeclaration) => ({
  models: declared.models ?? ['*'],
  limits: JSON.parse(JSON.stringify(declared.limits ?? {})),
  allowedIps: declared.allowed_ips ?? [],
  translation: translationFrom({ translation: declared.translation }).translation ?? null,
  tags: declared.tags ?? null,
  fallback: declared.fallback === 'never' ? ('never' as const) : null,
  require: requirementFrom(declared.require) ?? null,
  expiresAtMs: declared.expires_at === undefined ? null : Date.parse(declared.expires_at),
})

/** A version is added only when it differs from the last one of this source. */
async function applyPrices(
  deps: DeclarationDeps,
  tx: Tx,
  declarations: readonly (PriceDeclaration | CostDeclaration)[],
  source: Source,
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const all = [...(await loadPrices(tx)), ...(await loadCosts(tx))]
  const stored = all.filter((price) => price.source === source)
  const storedFor = Map.groupBy(stored, ({ model }) => model)
  const declaredFor = Map.groupBy(declarations, ({ model }) => model)
  for (const declared of declarations) {
    const versions = storedFor.get(declared.model) ?? []
    const said = lastVersion(declared, declaredFor.get(declared.model)!, versions, nowMs)
    if (said !== undefined && saysTheSame(declared, said)) continue
    const { account, channel } = whoseOf(declared)
    const payer = account && (await findAccount(tx, account))!
    const price: Price = {
      id: newShortId(channel === undefined ? 'price' : 'cost', nowMs),
      model: declared.model,
      ...(payer && { account: { id: payer.id, name: payer.name } }),
      ...(channel !== undefined && { channel }),
      ...('currency' in declared && declared.currency && { currency: declared.currency }),
      terms: termsFrom(declared),
      effectiveFromMs: startOf(declared) ?? nowMs,
      source,
    }
    await insertPrice(tx, price, nowMs)
  }
}
