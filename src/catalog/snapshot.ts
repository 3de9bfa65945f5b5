// What may be asked, by whom, and where it is served: one immutable picture, swapped as a whole
// when something changes. Knows no money beyond whether a model has a price, which it asks every
// time: a price may begin between two swaps.

import type { Channel, Interface, Model, Protocol, Token } from '../contract/catalog.ts'
import { hasOwnProtocol } from '../contract/config-schema/names.ts'
import { matches } from '../lib/text/pattern.ts'
import { DatedModels, splitDate } from './dated-models.ts'

export interface CatalogParts {
  region: string
  models: Iterable<Model>
  channels: Iterable<Channel>
  /** By the keyed hash of the secret. */
  tokens: ReadonlyMap<string, Token>
  /** Whether there is a price in force now, for everybody or for this account. */
  isPriced: (model: string, accountId?: string) => boolean
  /** What upstream accounts turned out not to be entitled to; asked every time, too. */
  entitlements?: { readonly any: boolean; isDenied(channel: string, model: string): boolean }
}

/** A channel that can serve a model, and how. */
export interface Route {
  channel: Channel
  protocol: Protocol
  baseUrl: string
  upstreamModel: string
}

export interface Catalog {
  readonly models: ReadonlyMap<string, Model>
  readonly channels: readonly Channel[]
  readonly tokens: ReadonlyMap<string, Token>
  /** There are tokens of more than one account. */
  readonly hasManyAccounts: boolean
  /** Some channel serves it and everybody has a price for it now. */
  offers(name: string): boolean
  /** Some channel serves it, priced or not. */
  serves(name: string): boolean
  /** Routes of a model for one interface, best first. */
  routes(model: Model, use: Interface): readonly Route[]
  /** Interfaces by which it can be asked now. */
  servedBy(model: Model): Interface[]
  visible(token: Token, name: string): Model | undefined
  listVisible(token: Token): Model[]
}

export function createCatalog(parts: CatalogParts): Catalog {
  const models = new Map([...parts.models].map((model) => [model.name, model]))
  const channels = [...parts.channels]
  const routes = new Map<string, readonly Route[]>()
  const served = new Map<string, Model>()
  const usable = channels.filter((c) => !c.disabled && c.region === parts.region)
  /** False when nobody serves it by any of its interfaces. */
  const addRoutes = (model: Model, found: Route[]): boolean => {
    found.sort((a, b) => b.channel.priority - a.channel.priority)
    let any = false
    for (const use of model.interfaces) {
      const serving = servingRoutes(found, use)
      if (serving.length === 0) continue
      routes.set(`${model.name} ${use}`, serving)
      any = true
    }
    return any
  }
  for (const model of [...models.values()].toSorted(byName)) {
    const found = withoutStandIns(usable.flatMap((channel) => routesOf(model, channel)))
    if (addRoutes(model, found)) served.set(model.name, model)
  }
  const allows = (token: Token, name: string) => token.models.some((p) => matches(p, name))
  const routesFor = (model: Model, use: Interface): readonly Route[] => {
    const all = routes.get(`${model.name} ${use}`) ?? []
    const { entitlements } = parts
    if (entitlements === undefined || !entitlements.any) return all
    return all.filter(({ channel }) => !entitlements.isDenied(channel.id, model.name))
  }
  const servedBy = (model: Model) =>
    model.interfaces.filter((use) => routesFor(model, use).length > 0)
  const isServed = (model: Model) => !parts.entitlements?.any || servedBy(model).length > 0
  const mayUse = (token: Token, model: Model) => {
    const plain = model.pricedAs ?? model.name
    const allowed = allows(token, model.name) || allows(token, plain)
    return allowed && parts.isPriced(plain, token.accountId) && isServed(model)
  }
  const dated = new DatedModels(models, (model) =>
    addRoutes(model, withoutStandIns(usable.flatMap((channel) => routesOf(model, channel)))),
  )
  /** Snapshots that channels name; of others there is no end. */
  const pinned = usable.flatMap(({ models: names }) =>
    Object.keys(names).filter((name) => splitDate(name) !== undefined),
  )
  return {
    models,
    channels,
    tokens: parts.tokens,
    hasManyAccounts: areOfMany(parts.tokens.values()),
    offers: (name) => served.has(name) && parts.isPriced(name),
    serves: (name) => served.has(name),
    routes: routesFor,
    servedBy,
    visible: (token, name) => {
      const model = served.get(name) ?? dated.find(name)
      return model !== undefined && mayUse(token, model) ? model : undefined
    },
    listVisible: (token) => {
      const named = [...pinned, ...token.models.filter((name) => splitDate(name) !== undefined)]
      const found = [...new Set(named)].map((name) => served.get(name) ?? dated.find(name))
      const all = new Set([...served.values(), ...found.filter((model) => model !== undefined)])
      return [...all].filter((model) => mayUse(token, model)).sort(byName)
    },
  }
}

function areOfMany(tokens: Iterable<Token>): boolean {
  let first: string | undefined
  for (const { accountId } of tokens) {
    first ??= accountId
    if (accountId !== first) return true
  }
  return false
}

const byName = (one: Model, other: Model): number => (one.name < other.name ? -1 : 1)

/** The sandbox stands in where no real channel serves; it never takes over from one that fails. */
function withoutStandIns(routes: readonly Route[]): Route[] {
  const real = routes.filter(({ channel }) => channel.source !== 'builtin')
  return real.length > 0 ? real : [...routes]
}

/** How one channel would serve a model for one interface, be the channel enabled or not. */
export const routesThrough = (channel: Channel, model: Model, use: Interface): Route[] =>
  model.interfaces.includes(use) ? servingRoutes(routesOf(model, channel), use) : []

/** A channel that speaks several protocols of a model is asked by the one it prefers. */
function servingRoutes(found: readonly Route[], use: Interface): Route[] {
  const serving = found.filter((route) => serves(route, use))
  return serving.filter(
    ({ channel }, at) => serving.findIndex((other) => other.channel === channel) === at,
  )
}

/** An interface with a protocol of its own is asked in that; others in whatever the model speaks. */
const serves = ({ protocol }: Route, use: Interface): boolean =>
  hasOwnProtocol(use) ? protocol === use : !hasOwnProtocol(protocol)

function routesOf(model: Model, channel: Channel): Route[] {
  const upstreamModel = upstreamName(channel, model.name) ?? datedName(channel, model)
  if (upstreamModel === undefined) return []
  return model.protocols.flatMap((protocol) => {
    const baseUrl = channel.protocols[protocol]
    return baseUrl === undefined ? [] : [{ channel, protocol, baseUrl, upstreamModel }]
  })
}

/** An exact name wins over a prefix, a longer prefix over a shorter one. */
function upstreamName(channel: Channel, name: string): string | undefined {
  const pattern = Object.keys(channel.models)
    .filter((candidate) => matches(candidate, name))
    .toSorted((a, b) => Number(a.endsWith('*')) - Number(b.endsWith('*')) || b.length - a.length)[0]
  if (pattern === undefined) return undefined
  const target = channel.models[pattern]
  return target === '*' ? name : target
}

/** By a channel that offers the model without its date: the version is the upstream's own name for it. */
function datedName(channel: Channel, { name, pricedAs }: Model): string | undefined {
  const plain = pricedAs === undefined ? undefined : upstreamName(channel, pricedAs)
  if (plain === undefined) return undefined
  return plain === pricedAs ? name : `${plain}-${splitDate(name)?.date}`
}
