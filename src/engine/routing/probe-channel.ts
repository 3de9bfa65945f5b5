// One cheap call to a channel, outside all accounts: does it answer, and how fast? The result
// updates channel state: a successful probe clears earlier failures.

import { type Route, routesThrough } from '../../catalog/snapshot.ts'
import type { Channel, Interface, Model } from '../../contract/catalog.ts'
import { interfaceRows } from '../../contract/config-schema/names.ts'
import type { TextCall } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { cleaned } from '../calls/clean-error.ts'
import { type ChannelState, channelStateOf } from './channel-state.ts'
import { type DiscoveryDeps, upstreamAt } from './discover-models.ts'
import { type LearnDeps, recordFailure, recordSuccess } from './learn.ts'

interface ProbeDeps extends DiscoveryDeps {
  readonly routing: { readonly states: Map<string, ChannelState> }
  readonly entitlements: LearnDeps['entitlements'] & { forget(channelId: string): void }
}

interface ChannelTest {
  ok: boolean
  latency_ms: number
  model?: string
  error?: string
}

const testLimitMs = 30_000

const questionOf = (use: Interface): object | undefined => interfaceRows[use]?.question

export async function testChannel(
  deps: ProbeDeps,
  channel: Channel,
  wanted: string | undefined,
): Promise<ChannelTest> {
  const found = textRoute(deps, channel, wanted)
  if (found === undefined) {
    const what = wanted === undefined ? 'no text model' : `'${wanted}' not as a text model`
    return { ok: false, latency_ms: 0, error: `this channel serves ${what}` }
  }
  const { model, route, use } = found
  const upstream = { ...upstreamAt(deps, channel, route.baseUrl), model: route.upstreamModel }
  const call = question(model, use)
  const startedMs = deps.clock.nowMs()
  const stop = new Cancellation()
  const timer = setTimeout(() => stop.cancel(), testLimitMs)
  const reply = await deps.providers.get(route.protocol)!.text!.send(call, upstream, stop)
  clearTimeout(timer)
  const result = { latency_ms: deps.clock.nowMs() - startedMs, model: model.name }
  const channelState = channelStateOf(deps.routing.states, channel.id)
  const asked = { route, key: upstream.key, channelState }
  if (reply.kind === 'failed') {
    recordFailure(deps, asked, model.name, reply.error)
    return { ok: false, ...result, error: cleaned(deps, reply.error, call, route).message }
  }
  if (reply.kind === 'stream') reply.answer.cancel()
  channelState.reset()
  recordSuccess(deps, asked, model.name)
  if (wanted === undefined) deps.entitlements.forget(channel.id)
  return { ok: true, ...result }
}

/**
 * The model asked for, else the first text model the channel serves, those with a price before
 * others. Asked of the channel itself: one that is disabled is in no list of routes.
 */
function textRoute(
  deps: ProbeDeps,
  channel: Channel,
  wanted: string | undefined,
): { model: Model; route: Route; use: Interface } | undefined {
  const models = [...deps.catalog.models.values()]
    .filter(({ name }) => wanted === undefined || name === wanted)
    .toSorted((a, b) => unpriced(deps, a) - unpriced(deps, b) || (a.name < b.name ? -1 : 1))
  for (const model of models) {
    for (const use of model.interfaces.filter((each) => questionOf(each) !== undefined)) {
      const route = routesThrough(channel, model, use).find(
        ({ protocol }) => deps.providers.get(protocol)?.text !== undefined,
      )
      if (route !== undefined) return { model, route, use }
    }
  }
  return undefined
}

const unpriced = (deps: ProbeDeps, { name }: Model): number =>
  deps.prices.current(name) === undefined ? 1 : 0

function question({ name: model, kind }: Model, use: Interface): TextCall {
  const row = interfaceRows[use]
  const { method, fields: asked } = row?.questions?.[kind] ?? { fields: row?.question }
  const fields = { model, ...asked }
  return {
    interface: use,
    model,
    ...(method !== undefined && { method, makes: kind }),
    stream: false,
    wantsUsage: false,
    body: JSON.stringify(fields),
    fields,
    inputTokens: 8,
    inputBound: { maxTextTokens: 0, images: 0, isOpen: false, inputs: 1 },
    choices: 1,
    maxOutputTokens: 1,
  }
}
