// Compares an upstream's model list with what its channel serves: new, gone, already there. Changes
// nothing; the caller of this function decides what to do.
import type { Channel, Protocol } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import type { ListUpstream, Provider } from '../../contract/provider.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import type { Clock } from '../../lib/clock.ts'
import { matches } from '../../lib/text/pattern.ts'
import type { Cleans, Offers } from '../base-deps.ts'
import { cleaned } from '../calls/clean-error.ts'
import { channelClient, shownKey, upstreamPart } from './channel-client.ts'

export interface DiscoveryDeps extends Offers, Cleans {
  readonly providers: ReadonlyMap<Protocol, Provider>
  readonly clock: Clock
  readonly http: HttpPort
}

interface Discovery {
  ok: boolean
  latency_ms: number
  /** An upstream model, by its own name. */
  models: {
    upstream_model: string
    /** Names that this channel serves it under; none: it is new. */
    names: string[]
    /** The catalog entry of its own name, or of those it is served under. */
    kind: string | null
    priced: boolean
  }[]
  /** Models that the channel serves by name, and the upstream did not list. */
  gone: { name: string; upstream_model: string }[]
  error?: string
}

const listLimitMs = 20_000

type Lister = NonNullable<Provider['listModels']>
interface Place {
  baseUrl: string
  list: Lister
  protocols: Protocol[]
}

export async function discoverModels(deps: DiscoveryDeps, channel: Channel): Promise<Discovery> {
  const places = placesOf(deps, channel)
  const none = { latency_ms: 0, models: [], gone: [] }
  if (places.length === 0) {
    const error = 'no protocol of this channel has a list of models to ask for'
    return { ok: false, ...none, error }
  }
  const startedMs = deps.clock.nowMs()
  const answers = await Promise.all(
    places.map(async (place) => ({ place, reply: await askOne(deps, channel, place) })),
  )
  const latency_ms = deps.clock.nowMs() - startedMs
  const names = new Set<string>()
  const asked = new Set<Protocol>()
  let error: string | undefined
  for (const { place, reply } of answers) {
    if (reply.kind === 'failed') {
      const nothing = { body: '', model: '' }
      error ??= cleaned(deps, reply.error, nothing, { upstreamModel: '' }).message
      continue
    }
    for (const name of reply.names) names.add(name)
    for (const protocol of place.protocols) asked.add(protocol)
  }
  if (asked.size === 0) return { ok: false, ...none, latency_ms, error: error! }
  const models = [...names].sort().map((name) => listed(deps, channel, name))
  return { ok: true, latency_ms, models, gone: goneFrom(deps, channel, names, asked) }
}

/** Protocols that share a URL and a list are asked once. */
function placesOf(deps: DiscoveryDeps, channel: Channel): Place[] {
  const places: Place[] = []
  for (const [name, baseUrl] of Object.entries(channel.protocols)) {
    const protocol = name as Protocol
    const list = deps.providers.get(protocol)?.listModels
    if (list === undefined) continue
    const same = places.find((place) => place.list === list && place.baseUrl === baseUrl)
    if (same === undefined) places.push({ baseUrl, list, protocols: [protocol] })
    else same.protocols.push(protocol)
  }
  return places
}

/** For a request outside all calls: the first key, and no deadline but the request's own. */
export const upstreamAt = (
  { http }: DiscoveryDeps,
  channel: Channel,
  baseUrl: string,
): ListUpstream => ({
  baseUrl,
  key: shownKey(channel, channel.keys[0] ?? ''),
  ...upstreamPart(channel),
  http: channelClient(http, channel),
  progress: { touch() {} },
})

async function askOne(deps: DiscoveryDeps, channel: Channel, { baseUrl, list }: Place) {
  const stop = new Cancellation()
  const timer = setTimeout(() => stop.cancel(), listLimitMs)
  try {
    return await list(upstreamAt(deps, channel, baseUrl), stop)
  } finally {
    clearTimeout(timer)
  }
}

function listed(deps: DiscoveryDeps, { models }: Channel, upstreamModel: string) {
  const names = Object.entries(models).flatMap(([pattern, target]) => {
    if (target !== '*') return target === upstreamModel ? [pattern] : []
    return matches(pattern, upstreamModel) ? [upstreamModel] : []
  })
  const known = [...names, upstreamModel]
  const kinds = known.flatMap((name) => deps.catalog.models.get(name)?.kind ?? [])
  return {
    upstream_model: upstreamModel,
    names: [...new Set(names)],
    kind: kinds[0] ?? null,
    priced: known.some((name) => deps.prices.current(name) !== undefined),
  }
}

/** A list says nothing about models of a protocol without one. */
function goneFrom(
  { catalog }: DiscoveryDeps,
  { models }: Channel,
  listed: ReadonlySet<string>,
  asked: ReadonlySet<Protocol>,
): Discovery['gone'] {
  return Object.entries(models).flatMap(([name, target]) => {
    if (name.endsWith('*')) return []
    const upstreamModel = target === '*' ? name : target
    const spoken = catalog.models.get(name)?.protocols
    const isListed = spoken === undefined || spoken.some((protocol) => asked.has(protocol))
    return listed.has(upstreamModel) || !isListed ? [] : [{ name, upstream_model: upstreamModel }]
  })
}
