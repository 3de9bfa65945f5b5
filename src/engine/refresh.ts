// Builds the pictures the hot path looks at (catalog, prices, secrets to clean away) from what is
// stored and what is declared, and swaps them in as a whole.
import { createPriceBook } from '../billing/price-book.ts'
import { builtinModels } from '../catalog/builtin.ts'
import { createCatalog } from '../catalog/snapshot.ts'
import type { Channel, Model } from '../contract/catalog.ts'
import { channelFrom, type FileDeclaration, modelFrom } from '../contract/declarations.ts'
import { createCleaner } from '../lib/redact.ts'
import type { Seal } from '../lib/seal.ts'
import { loadChannels, type StoredChannel } from '../store/channels.ts'
import { loadModels } from '../store/models.ts'
import { loadPrices } from '../store/prices.ts'
import { loadTokens } from '../store/tokens.ts'
import type { Engine } from './engine.ts'

/** What does not come from the store. */
export interface Declared {
  file: FileDeclaration
  /** The sandbox's channel, when it runs. */
  sandbox?: Channel
  /** Secrets of the gateway itself that must never appear in a text. */
  ownSecrets: readonly string[]
}

export async function refresh(engine: Engine): Promise<void> {
  const { store, declared, seal } = engine
  const [tokens, stored, models, prices] = await Promise.all([
    loadTokens(store.read),
    loadChannels(store.read),
    loadModels(store.read),
    loadPrices(store.read),
  ])
  const channels = channelsOf(declared, stored, seal)
  const priced = new Set(declared.file.prices.map(({ model }) => model))
  const book = createPriceBook(prices, priced, engine.clock.nowMs)
  engine.prices = book
  engine.catalog = createCatalog({
    region: declared.file.region,
    models: modelsOf(declared.file, models),
    channels,
    tokens: new Map(tokens.map((token) => [token.hash, token])),
    isPriced: (model) => book.current(model) !== undefined,
  })
  engine.cleaner = createCleaner([
    ...declared.ownSecrets,
    ...channels.flatMap((channel) => channel.keys.flatMap((key) => [key, ...key.split('|')])),
  ])
  engine.knownSecrets.clear()
}

/** Declared ones win over those of the admin API, those over the shipped ones. */
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
  return [...fromFile, ...fromApi, ...(declared.sandbox === undefined ? [] : [declared.sandbox])]
}

function opened(row: StoredChannel, seal: Seal): Channel {
  const { keyCiphertexts, createdAtMs: _, updatedAtMs: __, ...channel } = row
  return { ...channel, keys: keyCiphertexts.map((sealed) => seal.decrypt(sealed, row.id)) }
}
