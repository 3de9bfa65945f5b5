// Checks what this gateway would offer: the channels of the file and the database, and the served
// models without a price.

import { builtinModels, builtinPrices } from '../../catalog/builtin.ts'
import { createCatalog } from '../../catalog/snapshot.ts'
import { TokenTable } from '../../catalog/token-table.ts'
import type { Channel, Model, Source } from '../../contract/catalog.ts'
import {
  channelFrom,
  type FileDeclaration,
  modelFrom,
  type PriceDeclaration,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import type { Price } from '../../contract/price.ts'
import { misfitsIn } from '../../engine/catalog/declared-prices.ts'
import { missingPrices } from '../../engine/catalog/missing-prices.ts'
import { pricesOf } from '../../engine/catalog/refresh.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { accountNames } from '../../store/catalog/accounts.ts'
import { loadChannels } from '../../store/catalog/channels.ts'
import { loadModels } from '../../store/catalog/models.ts'
import { loadPrices } from '../../store/catalog/prices.ts'
import type { Inspection } from '../../store/maintenance/inspect.ts'
import { idleDeclarations, idleModels, strayTokens } from './idle.ts'

export interface Offer {
  channels: readonly Channel[]
  /** Served, but not callable. */
  unpriced: readonly string[]
  /** Names that channels serve and no model has. */
  unknown: readonly { channel: string; model: string }[]
  /** What was declared and has no effect, one sentence each, with what to do about it. */
  idle: readonly { says: string; advice: string }[]
  /** Tokens of the file whose account neither it nor the database has: a start is refused. */
  strayTokens: readonly { index: number; name: string; account: string }[]
  /** Names of those that the file or the database has. */
  accounts: readonly string[]
  /** By name. */
  models: ReadonlyMap<string, Model>
  /** Models and prices of the file that prevent a start. */
  misfits: ReturnType<typeof misfitsIn>
  /** Channels with keys that could not be decrypted. */
  sealed: readonly string[]
}

/** Without a database: from the file alone. */
export async function readOffer(
  file: FileDeclaration,
  usable?: Inspection,
  seal?: Seal,
): Promise<Offer> {
  const { region } = file
  const declared = file.channels.map((channel) =>
    channelFrom(channel, { id: `file:${channel.name}`, source: 'file', region }),
  )
  const stored =
    usable === undefined
      ? { channels: [], models: [], prices: [], accounts: [] }
      : await load(usable)
  const names = new Set(declared.map(({ name }) => name))
  const others = stored.channels.filter(({ name }) => !names.has(name))
  const opened = others.map(({ keyCiphertexts, createdAtMs: _, updatedAtMs: __, ...channel }) => ({
    ...channel,
    keys: seal === undefined ? [] : keyCiphertexts.map((each) => seal.decrypt(each, channel.id)),
  }))
  const channels = [...declared, ...opened]
  const models = [
    ...builtinModels,
    ...stored.models,
    ...file.models.map((model) => modelFrom(model, 'file')),
  ]
  return {
    channels,
    unpriced: unpricedOf(file, channels, models, stored.prices),
    unknown: unknownOf(channels, models),
    idle: [
      ...channels.flatMap((channel) => idleModels(channel, models)),
      ...idleDeclarations(file, models, stored.prices),
    ],
    strayTokens: strayTokens(file, stored.accounts),
    accounts: [...stored.accounts, ...file.accounts.map(({ name }) => name)],
    models: new Map(models.map((model) => [model.name, model])),
    misfits: misfitsIn(file, stored.models),
    sealed: seal === undefined ? opened.map(({ name }) => name) : [],
  }
}

async function load({ read }: Inspection) {
  const [channels, models, prices, accounts] = await Promise.all([
    loadChannels(read),
    loadModels(read),
    loadPrices(read),
    accountNames(read),
  ])
  return { channels, models, prices, accounts: [...accounts.values()] }
}

/** Mostly typing errors; a dated name belongs to the model it begins with. */
const unknownOf = (channels: readonly Channel[], models: readonly Model[]) =>
  channels.flatMap(({ name, models: served }) =>
    Object.keys(served)
      .filter((model) => !model.endsWith('*'))
      .filter((model) => !models.some((each) => `${model}-`.startsWith(`${each.name}-`)))
      .map((model) => ({ channel: name, model })),
  )

/** As they would be after a start with this file. */
function unpricedOf(
  file: FileDeclaration,
  channels: readonly Channel[],
  models: readonly Model[],
  stored: readonly Price[],
): string[] {
  const nowMs = Date.now()
  const prices = [
    ...stored,
    ...declaredPrices(builtinPrices, 'builtin', nowMs),
    ...declaredPrices(file.prices, 'file', nowMs),
  ]
  const book = pricesOf(file, prices, () => nowMs)
  const { region } = file
  const isPriced = (model: string) => book.current(model) !== undefined
  const catalog = createCatalog({ region, models, channels, tokens: new TokenTable(), isPriced })
  return missingPrices({ catalog, prices: book })
}

const declaredPrices = (
  declarations: readonly PriceDeclaration[],
  source: Source,
  nowMs: number,
): Price[] =>
  declarations.map((declared, at) => ({
    id: `${source}-${at}`,
    model: declared.model,
    ...(declared.account && { account: { id: declared.account, name: declared.account } }),
    terms: termsFrom(declared),
    effectiveFromMs: startOf(declared) ?? nowMs,
    source,
  }))
