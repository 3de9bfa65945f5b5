// Builds the snapshots that the hot path reads (catalog, prices, secrets to redact) from stored and
// declared data, and swaps them in whole and in order: an older snapshot never replaces a newer
// one.
import { createPriceBook, type PriceBook } from '../../billing/prices/price-book.ts'
import { builtinModels } from '../../catalog/builtin.ts'
import { createCatalog } from '../../catalog/snapshot.ts'
import type { Channel, Model } from '../../contract/catalog.ts'
import { channelFrom, type FileDeclaration, modelFrom } from '../../contract/config-schema/index.ts'
import type { Price } from '../../contract/price.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { createCleaner } from '../../lib/redact/index.ts'
import { loadChannels, type StoredChannel } from '../../store/catalog/channels.ts'
import { loadModels } from '../../store/catalog/models.ts'
import { loadPrices } from '../../store/catalog/prices.ts'
import { loadTokens } from '../../store/catalog/tokens.ts'
import { loadSuspended } from '../../store/ledger/suspended-accounts.ts'
import type { Engine } from '../engine.ts'
import { withoutDropped } from './declared-prices.ts'
import { watchPrices } from './missing-prices.ts'

/** Inputs other than the store. */
export interface Declared {
  file: FileDeclaration
  /** The sandbox, when it runs; unless always on, any real channel takes precedence over it. */
  sandbox?: { channel: Channel; always: boolean }
  /** The gateway's own secrets, which must never appear in a text. */
  ownSecrets: readonly string[]
}

interface Turn {
  ended: Promise<void>
  /** The next refresh, if one was requested. */
  next?: Promise<void>
}
const turns = new WeakMap<Engine, Turn>()

/** When this resolves, what was stored before the call is in force. */
export function refresh(engine: Engine): Promise<void> {
  const turn = turns.get(engine)
  if (turn === undefined) return begin(engine)
  // The next one has not begun to read, so it will include everything stored until then.
  turn.next ??= turn.ended.then(
    () => begin(engine),
    () => begin(engine),
  )
  return turn.next
}

/** After a change was stored: in force here when this resolves, elsewhere shortly after. */
export async function announce(engine: Engine): Promise<void> {
  engine.store.cluster?.publish({ kind: 'changed' })
  await refresh(engine)
}

export function subscribeToChanges(engine: Engine): void {
  engine.store.cluster?.subscribe(({ kind }) => {
    if (kind === 'changed') void refreshAtLast(engine)
  })
}

const retryMs = 300
const maxRetries = 100

/** The notification is not repeated, so a short database outage must not lose it. */
async function refreshAtLast(engine: Engine): Promise<void> {
  for (let tries = 0; tries < maxRetries; tries++) {
    try {
      return await refresh(engine)
    } catch (error) {
      if (tries === 0) engine.log.warn('change not loaded yet', { error })
    }
    await new Promise((go) => setTimeout(go, retryMs))
  }
  engine.log.error('change not loaded; the next change loads it')
}

function begin(engine: Engine): Promise<void> {
  const turn: Turn = {
    ended: rebuild(engine).finally(() => {
      if (turn.next === undefined) turns.delete(engine)
    }),
  }
  turns.set(engine, turn)
  return turn.ended
}

async function rebuild(engine: Engine): Promise<void> {
  const { store, declared, seal } = engine
  const [stopped, tokens, stored, models, prices] = await Promise.all([
    loadSuspended(store.read),
    loadTokens(store.read),
    loadChannels(store.read),
    loadModels(store.read),
    loadPrices(store.read),
  ])
  const channels = channelsOf(declared, stored, seal)
  const book = pricesOf(declared.file, prices, engine.clock.nowMs)
  engine.ledger.stopped = stopped
  engine.prices = book
  engine.catalog = createCatalog({
    region: declared.file.region,
    models: modelsOf(declared.file, models),
    channels,
    tokens: new Map(tokens.map((token) => [token.hash, token])),
    isPriced: (model, accountId) => book.current(model, accountId) !== undefined,
    entitlements: engine.entitlements,
  })
  engine.cleaner = createCleaner(
    [
      ...declared.ownSecrets,
      ...(declared.file.callbacks === undefined ? [] : [declared.file.callbacks.secret]),
      ...channels.flatMap((channel) => channel.keys.flatMap((key) => [key, ...key.split('|')])),
    ],
    channels.flatMap((channel) => Object.values(channel.protocols).map(hostOf)),
  )
  engine.knownSecrets.clear()
  await watchPrices(engine)
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
