// Which models may be called, by which tokens, and through which channels: one immutable snapshot,
// replaced as a whole on each change. Knows no money beyond whether a model has a price, which it
// looks up each time: a price may start between two replacements.

import {
  type Channel,
  type Interface,
  isNameOnly,
  type Model,
  type Protocol,
  type Token,
} from '../contract/catalog.ts'
import { hasOwnProtocol, interfaceRows, protocolStyles } from '../contract/config-schema/names.ts'
import { matches } from '../lib/text/pattern.ts'
import { DatedModels, splitDate } from './dated-models.ts'
import type { TokenTable } from './token-table.ts'
import { AliasPatterns, withBacking } from './virtual-models.ts'

interface CatalogParts {
  region: string
  models: Iterable<Model>
  channels: Iterable<Channel>
  /** By the keyed hash of the secret. */
  tokens: TokenTable
  /** Whether a price is in force now, for all accounts or for this one. */
  isPriced: (model: string, accountId?: string) => boolean
  /** Models that upstream accounts turned out not to be entitled to; also looked up each time. */
  entitlements?: { readonly any: boolean; isDenied(channel: string, model: string): boolean }
}

const latencyOf = ({ routing }: Model): Pick<Route, 'byLatency'> =>
  routing === 'latency' ? { byLatency: true } : {}

/** A channel that can serve a model, and how. */
export interface Route {
  channel: Channel
  protocol: Protocol
  baseUrl: string
  upstreamModel: string
  /** The protocol of the provider, where its upstreams speak several. */
  provider?: Protocol
  /** Set when the caller's style is another one. */
  translated?: true
  /** Set when the fastest of equal channels is preferred. */
  byLatency?: true
  /** The same channel by another protocol, for when its upstream does not have the path of this one. */
  fallback?: Route
}

/** Without translation, not even as a fallback. */
export const nativeRoutes = (routes: readonly Route[]): readonly Route[] =>
  routes.filter(({ translated }) => !translated).map(({ fallback: _, ...route }) => route)

export interface Catalog {
  readonly models: ReadonlyMap<string, Model>
  readonly channels: readonly Channel[]
  readonly tokens: TokenTable
  /** The tokens belong to more than one account. */
  readonly hasManyAccounts: boolean
  /** Some channel serves it and a price for all accounts is in force. */
  offers(name: string): boolean
  /** A price is in force for the account, or for all: its own, or that of a model that serves it. */
  isPriced(model: Model, accountId?: string): boolean
  /** Some channel serves it, priced or not. */
  serves(name: string): boolean
  /** Routes of a model for one interface, best first. */
  routes(model: Model, use: Interface): readonly Route[]
  /** Interfaces through which it can be called now. `isNative`: without translation. */
  servedBy(model: Model, isNative?: boolean): Interface[]
  visible(token: Token, name: string): Model | undefined
  /** Whether all that a token lacks to see it is a price. */
  isUnpriced(token: Token, name: string): boolean
  listVisible(token: Token): Model[]
}

export function createCatalog(parts: CatalogParts): Catalog {
  const models = new Map([...parts.models].map((model) => [model.name, model]))
  const channels = [...parts.channels]
  /** By model, then by interface. */
  const routes = new Map<string, Map<Interface, readonly Route[]>>()
  const served = new Map<string, Model>()
  const usable = channels.filter((c) => !c.disabled && c.region === parts.region)
  /** False when no channel serves it through any of its interfaces. */
  const addRoutes = (model: Model, found: Route[]): boolean => {
    found.sort((a, b) => b.channel.priority - a.channel.priority)
    const byInterface = new Map<Interface, readonly Route[]>()
    for (const use of interfacesOf(model)) {
      const serving = servingRoutes(model, found, use)
      if (serving.length > 0) byInterface.set(use, serving)
    }
    if (byInterface.size > 0) routes.set(model.name, byInterface)
    return byInterface.size > 0
  }
  const serve = (model: Model): boolean =>
    addRoutes(model, withoutStandIns(usable.flatMap((channel) => routesOf(model, channel))))
  const dated = new DatedModels(models, serve)
  for (const model of [...models.values()].toSorted(byName)) {
    if (!isNameOnly(model) && serve(model)) served.set(model.name, model)
  }
  const find = (name: string) => models.get(name) ?? dated.find(name)
  const named = [...models.values()].filter(isNameOnly).map((model) => withBacking(model, find))
  for (const model of named) {
    models.set(model.name, model)
    if (!model.name.endsWith('*') && isBacked(model, served)) served.set(model.name, model)
  }
  const patterns = new AliasPatterns(named.filter((model) => isBacked(model, served)))
  /** A model that no channel serves is still the exact one. */
  const wordOf = (name: string) => (models.has(name) ? undefined : patterns.find(name))
  const routesFor = (model: Model, use: Interface): readonly Route[] => {
    if (model.backing !== undefined) return routesOfMembers(model.backing, use)
    const all = routes.get(model.name)?.get(use) ?? []
    return parts.entitlements?.any ? granted(parts.entitlements, all, model.name) : all
  }
  const routesOfMembers = ({ members }: NonNullable<Model['backing']>, use: Interface) =>
    members.flatMap((each) => routesFor(each.model, use))
  const servedBy = (model: Model, isNative = false) =>
    interfacesOf(model).filter((use) =>
      routesFor(model, use).some(({ translated }) => !isNative || !translated),
    )
  const isServed = (model: Model) => !parts.entitlements?.any || servedBy(model).length > 0
  const isPriced = (model: Model, accountId?: string): boolean => {
    const { backing } = model
    if (backing === undefined) return parts.isPriced(model.pricedAs ?? model.name, accountId)
    if (backing.pricedAs !== undefined) return parts.isPriced(backing.pricedAs, accountId)
    for (const each of backing.members) {
      if (isCallable(each.model, served) && isPriced(each.model, accountId)) return true
    }
    return false
  }
  const mayUse = (token: Token, model: Model) => {
    const allowed = allows(token, model.name) || allows(token, model.pricedAs ?? model.name)
    return allowed && isPriced(model, token.accountId) && isServed(model)
  }
  /** Only dated versions that channels name; the set of others is unbounded. */
  const pinned = usable.flatMap(({ models: names }) =>
    Object.keys(names).filter((name) => splitDate(name) !== undefined),
  )
  return {
    models,
    channels,
    tokens: parts.tokens,
    hasManyAccounts: parts.tokens.hasManyAccounts,
    offers: (name) => served.has(name) && isPriced(served.get(name)!),
    isPriced,
    serves: (name) => served.has(name),
    routes: routesFor,
    servedBy,
    visible: (token, name) => {
      const model = served.get(name) ?? dated.find(name) ?? wordOf(name)
      return model !== undefined && mayUse(token, model) ? model : undefined
    },
    isUnpriced: (token, name) => {
      const model = served.get(name) ?? dated.find(name) ?? wordOf(name)
      if (model === undefined || isPriced(model, token.accountId)) return false
      return allows(token, name) || allows(token, model.pricedAs ?? name)
    },
    listVisible: (token) => {
      const named = [...pinned, ...token.models.filter((name) => splitDate(name) !== undefined)]
      const found = [...new Set(named)].map((name) => served.get(name) ?? dated.find(name))
      const all = new Set([...served.values(), ...found.filter((model) => model !== undefined)])
      return [...all].filter((model) => mayUse(token, model)).sort(byName)
    },
  }
}

function allows({ models }: Token, name: string): boolean {
  for (const pattern of models) if (matches(pattern, name)) return true
  return false
}

const granted = (
  entitlements: NonNullable<CatalogParts['entitlements']>,
  routes: readonly Route[],
  model: string,
): readonly Route[] => routes.filter(({ channel }) => !entitlements.isDenied(channel.id, model))

/** A dated model is only made where a channel serves it. */
const isCallable = ({ name, pricedAs }: Model, served: ReadonlyMap<string, Model>): boolean =>
  pricedAs !== undefined || served.has(name)

const isBacked = ({ backing }: Model, served: ReadonlyMap<string, Model>): boolean =>
  backing?.members.some(({ model }) => isCallable(model, served)) === true

const byName = (one: Model, other: Model): number => (one.name < other.name ? -1 : 1)

/** The sandbox stands in where no real channel serves; it never takes over from one that fails. */
function withoutStandIns(routes: readonly Route[]): Route[] {
  const real = routes.filter(({ channel }) => channel.source !== 'builtin')
  return real.length > 0 ? real : [...routes]
}

/** How one channel would serve a model for one interface, whether the channel is enabled or not. */
export const routesThrough = (channel: Channel, model: Model, use: Interface): Route[] =>
  !isNameOnly(model) && interfacesOf(model).includes(use)
    ? servingRoutes(model, routesOf(model, channel), use)
    : []

/** Those it declares, and those whose calls can be translated for it. */
export function interfacesOf(model: Model): readonly Interface[] {
  const others = translatingFor(model).filter((use) => !model.interfaces.includes(use))
  return others.length === 0 ? model.interfaces : [...model.interfaces, ...others]
}

/** Those it declares, and those that its calls can be translated into. */
const protocolsOf = (model: Model): readonly Protocol[] => [
  ...new Set([...model.protocols, ...translatingFor(model)]),
]

/** Interfaces that share a neutral form; each is also the name of a protocol. */
const translatingFor = (model: Model): Interface[] =>
  Object.keys(interfaceRows).filter((use) => translationsOf(model, use).length > 0)

const translationsOf = ({ kind, translate }: Model, use: Interface): readonly Protocol[] =>
  translate === false ? [] : (interfaceRows[use]?.translates?.[kind] ?? [])

/**
 * A channel with several protocols for a model uses the one it prefers; those that its calls can be
 * translated into are fallbacks. Translation comes last: by
 * the priority of the channels, then by what a style can carry.
 */
function servingRoutes(model: Model, found: readonly Route[], use: Interface): Route[] {
  const own = found.filter((route) => serves(route, use))
  const translated = translatedRoutes(model, found, use)
  const serving = [
    ...own,
    ...translated.sort((one, other) => other.channel.priority - one.channel.priority),
  ]
  return serving
    .filter(({ channel }, at) => serving.findIndex((other) => other.channel === channel) === at)
    .map((route) => {
      const { channel } = route
      const others = translated.filter((other) => other.channel === channel && other !== route)
      return withFallbacks(route, others)
    })
}

function withFallbacks(route: Route, [next, ...more]: readonly Route[]): Route {
  return next === undefined ? route : { ...route, fallback: withFallbacks(next, more) }
}

const translatedRoutes = (model: Model, found: readonly Route[], use: Interface): Route[] =>
  translationsOf(model, use).flatMap((to) =>
    found
      .filter(({ protocol, channel }) => protocol === to && channel.translation !== 'off')
      .map((route) => ({ ...route, translated: true as const })),
  )

/** An interface with its own protocol requires that; others use any protocol of the model. */
const serves = ({ protocol }: Route, use: Interface): boolean =>
  hasOwnProtocol(use) ? protocol === use : !hasOwnProtocol(protocol)

function routesOf(model: Model, channel: Channel): Route[] {
  const upstreamModel = upstreamName(channel, model.name) ?? datedName(channel, model)
  if (upstreamModel === undefined) return []
  const plain = protocolsOf(model).flatMap((protocol) => {
    const baseUrl = channel.protocols[protocol]
    return baseUrl === undefined
      ? []
      : [{ channel, protocol, baseUrl, upstreamModel, ...latencyOf(model) }]
  })
  return [...plain, ...styledRoutes(model, channel, upstreamModel)]
}

/** By protocols in which upstreams speak the style of the model. */
function styledRoutes(model: Model, channel: Channel, upstreamModel: string): Route[] {
  return Object.entries(protocolStyles).flatMap(([provider, styleOf]) => {
    const baseUrl = channel.protocols[provider]
    const protocol = baseUrl === undefined ? '' : styleOf(upstreamModel)
    const isSpoken = protocolsOf(model).includes(protocol) || isTranslatedInto(model, protocol)
    return baseUrl !== undefined && isSpoken
      ? [{ channel, protocol, provider, baseUrl, upstreamModel, ...latencyOf(model) }]
      : []
  })
}

const isTranslatedInto = (model: Model, protocol: Protocol): boolean =>
  translatingFor(model).some((use) => translationsOf(model, use).includes(protocol))

/** An exact name wins over a prefix, a longer prefix over a shorter one. */
function upstreamName({ models }: Channel, name: string): string | undefined {
  const isNamed = !name.endsWith('*') && Object.hasOwn(models, name)
  const pattern = isNamed ? name : prefixesOf(models).find((prefix) => matches(prefix, name))
  if (pattern === undefined) return undefined
  const target = models[pattern]
  return target === '*' ? name : target
}

/** Found once: to search all names of a channel for every model would take their product. */
const knownPrefixes = new WeakMap<Channel['models'], readonly string[]>()

/** Longest first. */
function prefixesOf(models: Channel['models']): readonly string[] {
  const known = knownPrefixes.get(models)
  if (known !== undefined) return known
  const found = Object.keys(models).filter((name) => name.endsWith('*'))
  found.sort((a, b) => b.length - a.length)
  knownPrefixes.set(models, found)
  return found
}

/** For a channel that offers the undated model, the dated name is the upstream name. */
function datedName(channel: Channel, { name, pricedAs }: Model): string | undefined {
  const plain = pricedAs === undefined ? undefined : upstreamName(channel, pricedAs)
  if (plain === undefined) return undefined
  return plain === pricedAs ? name : `${plain}-${splitDate(name)?.date}`
}
