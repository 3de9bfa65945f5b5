// One cheap call to a channel, outside all accounts: does it answer, and how fast?

import type { Route } from '../catalog/snapshot.ts'
import type { Channel, Model } from '../contract/catalog.ts'
import type { TextCall } from '../contract/requests.ts'
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
  const reply = await provider.send(
    hello(model.name),
    {
      baseUrl: route.baseUrl,
      key: channel.keys[0] ?? '',
      model: route.upstreamModel,
      timeouts: channel.timeouts,
      fetch: engine.fetch,
    },
    AbortSignal.timeout(testLimitMs),
  )
  const result = { latency_ms: engine.clock.nowMs() - startedMs, model: model.name }
  if (reply.kind !== 'failed') return { ok: true, ...result }
  return { ok: false, ...result, error: cleaned(engine, reply.error, '').message }
}

/** The model asked for, else the first text model the channel serves. */
function textRoute(
  engine: Engine,
  channel: Channel,
  wanted: string | undefined,
): { model: Model; route: Route } | undefined {
  for (const model of engine.catalog.offered) {
    if (wanted !== undefined && model.name !== wanted) continue
    const route = engine.catalog
      .routes(model, 'chat')
      .find((candidate) => candidate.channel.id === channel.id)
    if (route !== undefined && engine.providers.get(route.protocol)?.text !== undefined) {
      return { model, route }
    }
  }
  return undefined
}

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
