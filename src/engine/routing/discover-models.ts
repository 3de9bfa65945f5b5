// Compares an upstream's model list with what its channel serves: new, gone, already there. Changes
// nothing; the caller of this function decides what to do.
import type { Channel, Protocol } from '../../contract/catalog.ts'
import type { ListUpstream, Provider } from '../../contract/provider.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { matches } from '../../lib/text/pattern.ts'
import { cleaned } from '../calls/clean-error.ts'
import type { Engine } from '../engine.ts'

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

export async function discoverModels(engine: Engine, channel: Channel): Promise<Discovery> {
  const places = placesOf(engine, channel)
  const none = { latency_ms: 0, models: [], gone: [] }
  if (places.length === 0) {
    const error = 'no protocol of this channel has a list of models to ask for'
    return { ok: false, ...none, error }
  }
  const startedMs = engine.clock.nowMs()
  const answers = await Promise.all(
    places.map(async (place) => ({ place, reply: await askOne(engine, channel, place) })),
  )
  const latency_ms = engine.clock.nowMs() - startedMs
  const names = new Set<string>()
  const asked = new Set<Protocol>()
  let error: string | undefined
  for (const { place, reply } of answers) {
    if (reply.kind === 'failed') {
      const nothing = { body: '', model: '' }
      error ??= cleaned(engine, reply.error, nothing, { upstreamModel: '' }).message
      continue
    }
    for (const name of reply.names) names.add(name)
    for (const protocol of place.protocols) asked.add(protocol)
  }
  if (asked.size === 0) return { ok: false, ...none, latency_ms, error: error! }
  const models = [...names].sort().map((name) => listed(engine, channel, name))
  return { ok: true, latency_ms, models, gone: goneFrom(engine, channel, names, asked) }
}

/** Protocols that share a URL and a list are asked once. */
function placesOf(engine: Engine, channel: Channel): Place[] {
  const places: Place[] = []
  for (const [name, baseUrl] of Object.entries(channel.protocols)) {
    const protocol = name as Protocol
    const list = engine.providers.get(protocol)?.listModels
    if (list === undefined) continue
    const same = places.find((place) => place.list === list && place.baseUrl === baseUrl)
    if (same === undefined) places.push({ baseUrl, list, protocols: [protocol] })
    else same.protocols.push(protocol)
  }
  return places
}

async function askOne(engine: Engine, channel: Channel, { baseUrl, list }: Place) {
  const upstream: ListUpstream = {
    baseUrl,
    key: channel.keys[0] ?? '',
    timeouts: channel.timeouts,
    messages: channel.messages,
    http: engine.http,
    progress: { touch() {} },
  }
  const stop = new Cancellation()
  const timer = setTimeout(() => stop.cancel(), listLimitMs)
  try {
    return await list(upstream, stop)
  } finally {
    clearTimeout(timer)
  }
}

function listed(engine: Engine, { models }: Channel, upstreamModel: string) {
  const names = Object.entries(models).flatMap(([pattern, target]) => {
    if (target !== '*') return target === upstreamModel ? [pattern] : []
    return matches(pattern, upstreamModel) ? [upstreamModel] : []
  })
  const known = [...names, upstreamModel]
  const kinds = known.flatMap((name) => engine.catalog.models.get(name)?.kind ?? [])
  return {
    upstream_model: upstreamModel,
    names: [...new Set(names)],
    kind: kinds[0] ?? null,
    priced: known.some((name) => engine.prices.current(name) !== undefined),
  }
}

/** A list says nothing about models of a protocol without one. */
function goneFrom(
  { catalog }: Engine,
  { models }: Channel,
  listed: ReadonlySet<string>,
  asked: ReadonlySet<Protocol>,
): Discovery['gone'] {
  return Object.entries(models).flatMap(([name, target]) => {
    if (name.endsWith('*')) return []
    const upstreamModel = target === '*' ? name : target
    const spoken = catalog.models.get(name)?.protocols
    const isAsked = spoken === undefined || spoken.some((protocol) => asked.has(protocol))
    return listed.has(upstreamModel) || !isAsked ? [] : [{ name, upstream_model: upstreamModel }]
  })
}
