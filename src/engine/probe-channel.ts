// One cheap call to a channel, outside all accounts: does it answer, and how fast?

import { type Route, routesThrough } from '../catalog/snapshot.ts'
import type { Channel, Model } from '../contract/catalog.ts'
import type { TextCall } from '../contract/requests.ts'
import { Cancellation } from '../lib/cancellation.ts'
import { cleaned } from './call-record.ts'
import type { Engine } from './engine.ts'

export interface ChannelTest {
  ok: boolean
  latency_ms: number
  model?: string
  error?: string
}

const testLimitMs = 30_000

export async function testChannel(
  engine: Engine,
  channel: Channel,
  wanted: string | undefined,
): Promise<ChannelTest> {
  const found = textRoute(engine, channel, wanted)
  if (found === undefined) {
    const what = wanted === undefined ? 'no text model' : `'${wanted}' not as a text model`
    return { ok: false, latency_ms: 0, error: `this channel serves ${what}` }
  }
  const { model, route } = found
  const startedMs = engine.clock.nowMs()
  const provider = engine.providers.get(route.protocol)!.text!
  const stop = new Cancellation()
  const timer = setTimeout(() => stop.cancel(), testLimitMs)
  const reply = await provider.send(
    hello(model.name),
    {
      baseUrl: route.baseUrl,
      key: channel.keys[0] ?? '',
      model: route.upstreamModel,
      timeouts: channel.timeouts,
      http: engine.http,
      progress: { touch() {} },
    },
    stop,
  )
  clearTimeout(timer)
  const result = { latency_ms: engine.clock.nowMs() - startedMs, model: model.name }
  if (reply.kind !== 'failed') return { ok: true, ...result }
  return { ok: false, ...result, error: cleaned(engine, reply.error, '').message }
}

/**
 * The model asked for, else the first text model the channel serves, those with a price before
 * others. Asked of the channel itself: one that is disabled is in no list of routes.
 */
function textRoute(
  engine: Engine,
  channel: Channel,
  wanted: string | undefined,
): { model: Model; route: Route } | undefined {
  const models = [...engine.catalog.models.values()]
    .filter(({ name }) => wanted === undefined || name === wanted)
    .toSorted((a, b) => unpriced(engine, a) - unpriced(engine, b) || (a.name < b.name ? -1 : 1))
  for (const model of models) {
    const route = routesThrough(channel, model, 'chat').find(
      ({ protocol }) => engine.providers.get(protocol)?.text !== undefined,
    )
    if (route !== undefined) return { model, route }
  }
  return undefined
}

const unpriced = (engine: Engine, { name }: Model): number =>
  engine.prices.current(name) === undefined ? 1 : 0

function hello(model: string): TextCall {
  const fields = { model, messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 }
  return {
    interface: 'chat',
    model,
    stream: false,
    wantsUsage: false,
    body: JSON.stringify(fields),
    fields,
    inputTokens: 8,
    choices: 1,
    maxOutputTokens: 1,
  }
}
