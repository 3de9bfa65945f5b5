// One cheap call to a channel in a protocol of its own, outside all accounts: does it answer, and how
// fast? The result updates channel state: a successful probe clears earlier failures.

import { interfacesOf, type Route, routesThrough } from '../../catalog/snapshot.ts'
import type { Channel, Model } from '../../contract/catalog.ts'
import { interfaceRows } from '../../contract/config-schema/names.ts'
import type { Stop, Upstream, UpstreamError } from '../../contract/provider.ts'
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

export async function testChannel(
  deps: ProbeDeps,
  channel: Channel,
  wanted: string | undefined,
): Promise<ChannelTest> {
  const probe = callProbe(deps, channel, wanted) ?? listProbe(deps, channel, wanted)
  if (probe === undefined)
    return { ok: false, latency_ms: 0, error: unasked(deps, channel, wanted) }
  const { model, route, ask } = probe
  const upstream = { ...upstreamAt(deps, channel, route.baseUrl), model: route.upstreamModel }
  const startedMs = deps.clock.nowMs()
  const stop = new Cancellation()
  const timer = setTimeout(() => stop.cancel(), testLimitMs)
  const failed = await ask(upstream, stop)
  clearTimeout(timer)
  const result = { latency_ms: deps.clock.nowMs() - startedMs, model: model.name }
  const channelState = channelStateOf(deps.routing.states, channel.id)
  const asked = { route, key: channel.keys[0] ?? '', channelState }
  if (failed !== undefined) {
    // A list that failed says nothing about calls.
    if (probe.call !== undefined) recordFailure(deps, asked, model.name, failed)
    const error = cleaned(deps, failed, probe.call ?? { body: '', model: model.name }, route)
    return { ok: false, ...result, error: error.message }
  }
  channelState.reset()
  if (probe.call !== undefined) recordSuccess(deps, asked, model.name)
  if (wanted === undefined) deps.entitlements.forget(channel.id)
  return { ok: true, ...result }
}

interface Probe {
  model: Model
  route: Route
  /** Absent: nothing but a list was asked for. */
  call?: TextCall
  /** Gives what went wrong. */
  ask(upstream: Upstream, stop: Stop): Promise<UpstreamError | undefined>
}

/**
 * A small call in the protocol of the route, whatever interface the route would serve. For the
 * model asked for, else the first that the channel serves.
 */
function callProbe(
  deps: ProbeDeps,
  channel: Channel,
  wanted: string | undefined,
): Probe | undefined {
  for (const model of modelsOf(deps, wanted)) {
    for (const route of routesTo(channel, model)) {
      const speaker = deps.providers.get(route.provider ?? route.protocol)
      const provider = speaker?.text
      const call = provider && question(model, route, speaker?.question)
      if (call === undefined) continue
      return {
        model,
        route,
        call,
        async ask(upstream, stop) {
          const reply = await provider!.send(call, upstream, stop)
          if (reply.kind === 'stream') reply.answer.cancel()
          return reply.kind === 'failed' ? reply.error : undefined
        },
      }
    }
  }
  return undefined
}

/** For models of which every call costs something: whether the upstream takes the key. */
function listProbe(
  deps: ProbeDeps,
  channel: Channel,
  wanted: string | undefined,
): Probe | undefined {
  for (const model of modelsOf(deps, wanted)) {
    for (const route of routesTo(channel, model)) {
      const list = deps.providers.get(route.provider ?? route.protocol)?.listModels
      if (list === undefined) continue
      return {
        model,
        route,
        async ask(upstream, stop) {
          const reply = await list(upstream, stop)
          return reply.kind === 'failed' ? reply.error : undefined
        },
      }
    }
  }
  return undefined
}

function unasked(deps: ProbeDeps, channel: Channel, wanted: string | undefined): string {
  const isServed = modelsOf(deps, wanted).some((model) => routesTo(channel, model).length > 0)
  if (isServed)
    return 'this channel has no call that costs nothing or little: use one of its models'
  return wanted === undefined
    ? 'this channel serves no model of the catalog'
    : `this channel does not serve '${wanted}'`
}

/** Those with a price before others. */
const modelsOf = (deps: ProbeDeps, wanted: string | undefined): Model[] =>
  [...deps.catalog.models.values()]
    .filter(({ name }) => wanted === undefined || name === wanted)
    .toSorted((a, b) => unpriced(deps, a) - unpriced(deps, b) || (a.name < b.name ? -1 : 1))

const unpriced = (deps: ProbeDeps, { name }: Model): number =>
  deps.prices.current(name) === undefined ? 1 : 0

/** Asked of the channel itself: one that is disabled is in no list of routes. */
const routesTo = (channel: Channel, model: Model): Route[] =>
  interfacesOf(model).flatMap((use) => routesThrough(channel, model, use))

/** Undefined where the protocol has no small call for such models. */
function question(
  { name: model, kind }: Model,
  route: Route,
  own: object | undefined,
): TextCall | undefined {
  const row = interfaceRows[route.protocol]
  const { method, fields: asked } = row?.questions?.[kind] ?? { fields: row?.question ?? own }
  if (asked === undefined) return undefined
  const capabilities = route.channel.capabilities ?? {}
  const fields = { model, ...(typeof asked === 'function' ? asked(capabilities) : asked) }
  return {
    interface: route.protocol,
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
