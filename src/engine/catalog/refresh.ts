// Builds the snapshots that the hot path reads (catalog, prices, secrets to redact) from stored and
// declared data, and swaps them in whole and in order: an older snapshot never replaces a newer
// one.
import type { Budgets } from '../../billing/budgets/budgets.ts'
import { type CostBook, createCostBook } from '../../billing/prices/cost-book.ts'
import { createPriceBook, type PriceBook } from '../../billing/prices/price-book.ts'
import { builtinModels } from '../../catalog/builtin.ts'
import { type Catalog, createCatalog } from '../../catalog/snapshot.ts'
import { TokenTable } from '../../catalog/token-table.ts'
import type { Channel, Model, Token } from '../../contract/catalog.ts'
import { secretsIn } from '../../contract/config-schema/channel/auth.ts'
import { channelFrom, type FileDeclaration, modelFrom } from '../../contract/config-schema/index.ts'
import type { Price } from '../../contract/price.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { type Cleaner, createCleaner } from '../../lib/redact/index.ts'
import { parseNanos } from '../../lib/text/decimal.ts'
import { loadChannels, type StoredChannel } from '../../store/catalog/channels.ts'
import { loadModels } from '../../store/catalog/models.ts'
import { loadCosts, loadPrices } from '../../store/catalog/prices.ts'
import { readTokens, tokenIdsOf } from '../../store/catalog/tokens.ts'
import type { Tx } from '../../store/index.ts'
import { loadBudgets } from '../../store/ledger/budgets.ts'
import { loadSuspended } from '../../store/ledger/suspended-accounts.ts'
import type { BaseDeps } from '../base-deps.ts'
import type { Declared } from '../declared.ts'
import { withoutDropped } from './declared-prices.ts'

export interface CatalogDeps extends BaseDeps {
  readonly declared: Declared
  readonly seal: Seal
  readonly entitlements: NonNullable<Parameters<typeof createCatalog>[0]['entitlements']>
  /** Secrets used since the last swap, with their tokens. */
  readonly knownSecrets: Map<string, Token>
  readonly ledger: { stopped: ReadonlySet<string>; readonly budgets: Pick<Budgets, 'declare'> }
  readonly subscriptions: { load(db: Tx): Promise<void> }
  readonly jobs: { readonly priceWatch: { check(): Promise<void> } }
  catalog: Catalog
  prices: PriceBook
  costs: CostBook
  cleaner: Cleaner
}

/** Ids of the tokens that a change concerns; the others are not read again. */
type ChangedTokens = 'all' | readonly string[]
export const noTokens: ChangedTokens = []
/** With more, all are read; a notice has room for so many. */
const maxNamed = 100

interface Turn {
  ended: Promise<void>
  /** The next refresh, if one was requested. */
  next?: Promise<void>
}
const turns = new WeakMap<CatalogDeps, Turn>()
/** What the next rebuild reads of the tokens. */
const wanted = new WeakMap<CatalogDeps, ChangedTokens>()

/** When this resolves, what was stored before the call is in force: of the tokens, these. */
export function refresh(deps: CatalogDeps, tokens: ChangedTokens = 'all'): Promise<void> {
  want(deps, tokens)
  const turn = turns.get(deps)
  if (turn === undefined) return begin(deps)
  // The next one has not begun to read, so it will include everything stored until then.
  turn.next ??= turn.ended.then(
    () => begin(deps),
    () => begin(deps),
  )
  return turn.next
}

function want(deps: CatalogDeps, tokens: ChangedTokens): void {
  wanted.set(deps, together(wanted.get(deps) ?? noTokens, tokens))
}

function together(some: ChangedTokens, others: ChangedTokens): ChangedTokens {
  if (some === 'all' || others === 'all') return 'all'
  const named = [...new Set([...some, ...others])]
  return named.length > maxNamed ? 'all' : named
}

/** Those of an account: enough of them to tell whether all are read. */
export const tokensOf = ({ store }: BaseDeps, accountId: string): Promise<ChangedTokens> =>
  tokenIdsOf(store.read, accountId, maxNamed + 1)

/** After a change was stored: in force here when this resolves, elsewhere shortly after. */
export async function announce(deps: CatalogDeps, changed: ChangedTokens): Promise<void> {
  const tokens = together(noTokens, changed)
  deps.store.cluster?.publish({ kind: 'changed', ...(tokens !== 'all' && { tokens }) })
  await refresh(deps, tokens)
}

export function subscribeToChanges(deps: CatalogDeps): void {
  deps.store.cluster?.subscribe((notice) => {
    if (notice.kind === 'changed') void refreshAtLast(deps, notice.tokens ?? 'all')
  })
}

const retryMs = 300
const maxRetries = 100

/** The notification is not repeated, so a short database outage must not lose it. */
async function refreshAtLast(deps: CatalogDeps, tokens: ChangedTokens): Promise<void> {
  for (let tries = 0; tries < maxRetries; tries++) {
    try {
      return await refresh(deps, tokens)
    } catch (error) {
      if (tries === 0) deps.log.warn('change not loaded yet', { error })
    }
    await new Promise((go) => setTimeout(go, retryMs))
  }
  deps.log.error('change not loaded; the next change loads it')
}

function begin(deps: CatalogDeps): Promise<void> {
  const turn: Turn = {
    ended: rebuild(deps).finally(() => {
      if (turn.next === undefined) turns.delete(deps)
    }),
  }
  turns.set(deps, turn)
  return turn.ended
}

async function rebuild(deps: CatalogDeps): Promise<void> {
  const tokens = wanted.get(deps) ?? noTokens
  wanted.delete(deps)
  try {
    await rebuildWith(deps, tokens)
  } catch (error) {
    want(deps, tokens)
    throw error
  }
}

async function rebuildWith(deps: CatalogDeps, changed: ChangedTokens): Promise<void> {
  const { store, declared, seal } = deps
  const [stopped, budgets, stored, models, prices, costs, swapTokens] = await Promise.all([
    loadSuspended(store.read),
    loadBudgets(store.read),
    loadChannels(store.read),
    loadModels(store.read),
    loadPrices(store.read),
    loadCosts(store.read),
    loadTokens(deps, changed),
    deps.subscriptions.load(store.read),
  ])
  const channels = channelsOf(declared, stored, seal)
  const book = pricesOf(declared.file, prices, deps.clock.nowMs)
  deps.ledger.stopped = stopped
  const held = deps.ledger.budgets.declare(budgets)
  deps.prices = book
  deps.costs = costsOf(declared.file, costs, book, channels, deps.clock.nowMs)
  deps.catalog = createCatalog({
    region: declared.file.region,
    models: modelsOf(declared.file, models),
    channels,
    tokens: swapTokens(),
    isPriced: (model, accountId) => book.current(model, accountId) !== undefined,
    entitlements: deps.entitlements,
  })
  deps.cleaner = createCleaner(
    [
      ...declared.ownSecrets,
      ...(declared.file.callbacks === undefined ? [] : [declared.file.callbacks.secret]),
      ...declared.file.webhooks.flatMap(({ secret = [] }) => secret),
      ...channels.flatMap(secretsOf),
    ],
    channels.flatMap((channel) => Object.values(channel.protocols).map(hostOf)),
  )
  deps.knownSecrets.clear()
  // Else the next write of these leases counts them.
  await held.catch((error) => deps.log.warn('calls in flight not held in budgets yet', { error }))
  await deps.jobs.priceWatch.check()
}

/** Reads; what it returns makes the table that is then in force. */
async function loadTokens(
  { store, catalog }: CatalogDeps,
  changed: ChangedTokens,
): Promise<() => TokenTable> {
  const { tokens: inForce } = catalog
  if (changed === 'all' || inForce.removed > inForce.size) {
    const all = new TokenTable()
    await readTokens(store.read, (hash, token) => all.add(hash, token))
    return () => all
  }
  const found: [hash: string, token: Token][] = []
  if (changed.length > 0) {
    await readTokens(store.read, (...each) => found.push(each), { ids: changed })
  }
  return () => {
    for (const id of changed) inForce.remove(id)
    for (const [hash, token] of found) inForce.add(hash, token)
    return inForce
  }
}

/** Shorter values of headers are words. */
const minSecretLength = 8

/** `arn:aws:bedrock:us-east-1:123456789012:…` */
const accountIds = /(?<=:)\d{12}(?=:)/g

function secretsOf({ keys, request, cloud, models }: Channel): string[] {
  const headers = Object.values(request?.headers?.set ?? {})
  if (cloud !== undefined) {
    const ids = Object.values(models).flatMap((name) => name.match(accountIds) ?? [])
    return [...keys.flatMap(secretsIn), ...ids, ...headers]
  }
  return [
    ...keys.flatMap((key) => [key, ...key.split('|')]),
    ...headers.filter((value) => value.length >= minSecretLength),
  ]
}

const hostOf = (address: string): string => new URL(address).host

/** Prices dropped from the file are no longer in force; they can still be looked up. */
export function pricesOf(
  file: FileDeclaration,
  stored: readonly Price[],
  nowMs: () => number,
): PriceBook {
  const priced = new Set(file.prices.map(({ model }) => model))
  const inForce = withoutDropped(stored, file.prices, nowMs())
  const { byId } = createPriceBook(stored, priced, nowMs)
  return { ...createPriceBook(inForce, priced, nowMs), byId }
}

/** The same of costs, with the part of the general price that channels take. */
function costsOf(
  { costs, currency, exchange }: FileDeclaration,
  stored: readonly Price[],
  prices: PriceBook,
  channels: readonly Channel[],
  nowMs: () => number,
): CostBook {
  const declared = new Set(costs.map(({ model }) => model))
  const inForce = withoutDropped(stored, costs, nowMs())
  const nanosIn = (entries: readonly (readonly [string, string | undefined])[]) =>
    new Map(
      entries.flatMap(([name, text]) => (text === undefined ? [] : [[name, parseNanos(text)!]])),
    )
  return createCostBook({
    versions: createPriceBook(inForce, declared, nowMs),
    hasVersions: inForce.length > 0,
    prices,
    currency,
    exchange: nanosIn(Object.entries(exchange)),
    factors: nanosIn(channels.map(({ name, costFactor }) => [name, costFactor])),
  })
}

/** Declared ones take precedence over those of the admin API, those over the shipped ones. */
function modelsOf(file: FileDeclaration, stored: readonly Model[]): Model[] {
  return [...builtinModels, ...stored, ...file.models.map((model) => modelFrom(model, 'file'))]
}

function channelsOf(declared: Declared, stored: readonly StoredChannel[], seal: Seal): Channel[] {
  const { region } = declared.file
  const fromFile = declared.file.channels.map((channel) =>
    channelFrom(channel, { id: `file:${channel.name}`, source: 'file', region }),
  )
  const taken = new Set(fromFile.map(({ name }) => name))
  const fromApi = stored.filter(({ name }) => !taken.has(name)).map((row) => opened(row, seal))
  const real = [...fromFile, ...fromApi]
  const { sandbox } = declared
  const wanted = sandbox !== undefined && (sandbox.always || real.length === 0)
  return wanted ? [...real, sandbox.channel] : real
}

function opened(row: StoredChannel, seal: Seal): Channel {
  const { keyCiphertexts, createdAtMs: _, updatedAtMs: __, ...channel } = row
  return { ...channel, keys: keyCiphertexts.map((sealed) => seal.decrypt(sealed, row.id)) }
}
