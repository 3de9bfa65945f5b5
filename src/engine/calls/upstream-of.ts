// What a provider is told of the upstream that one attempt goes to.
import type { Route } from '../../catalog/snapshot.ts'
import type { Translating, Upstream } from '../../contract/provider.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { boundsAt } from '../admission/min-output.ts'
import { bodyEditsOf, channelClient, shownKey, vertexOf } from '../routing/channel-client.ts'
import { clientFor } from '../telemetry/traces/traced-client.ts'
import { holdSent } from './admit.ts'
import { isStrict, mustKeepAll, realmOf, type UpstreamAttempt } from './attempt.ts'
import { completeUsage, payable } from './charged-usage.ts'
import { markFor } from './object-ids.ts'
import type { OpenCall } from './open-call.ts'

/** From here on the call is bound by what it asks this upstream for. */
export function upstreamOf(open: OpenCall, attempt: UpstreamAttempt): Upstream {
  const { engine, ctx } = open
  const { route, key } = attempt
  const { channel } = route
  open.bounds = boundsAt(open.bounds, route)
  const http = channelClient(engine.http, channel)
  return {
    baseUrl: route.baseUrl,
    key: shownKey(channel, key),
    model: route.upstreamModel,
    timeouts: channel.timeouts,
    messages: channel.messages,
    autoCache: channel.autoCache,
    cacheControl: channel.capabilities?.cacheControl,
    streamOptions: channel.capabilities?.streamOptions,
    http: ctx.trace === undefined ? http : clientFor(http, ctx.trace, channel),
    bodyEdits: channel.request && bodyEditsOf(channel.request),
    vertex: channel.cloud && vertexOf(channel),
    progress: attempt.deadline,
    queueKey: open.accountId,
    withoutSeals: attempt.withoutSeals,
    strict: isStrict(route, ctx),
    translating: route.translated ? translatingAt(open, attempt) : undefined,
    markFor: attempt.provider.handsOutIds ? marksFor(open, attempt) : undefined,
  }
}

const marksFor =
  ({ engine, accountId }: OpenCall, { route: { channel }, key }: UpstreamAttempt) =>
  (id: string): string =>
    markFor(engine.seal, accountId, { channel, key }, id)

function translatingAt(open: OpenCall, attempt: UpstreamAttempt): Translating {
  const { engine, ctx, call, bounds } = open
  return {
    answerId: ctx.requestId.slice(ctx.requestId.indexOf('_') + 1),
    createdMs: ctx.atMs,
    // What the hold is for.
    maxOutputTokens: Math.floor(bounds.outputTokens / call.choices),
    maxRequestBytes: engine.limits.bodyBytes,
    // Nothing is held for a question about a call.
    approve: (grownBytes) => open.hold && holdSent(open, grownBytes),
    chargedUsage(reported, countOutputTokens) {
      const claimed = completeUsage(reported, call.inputTokens, countOutputTokens)
      return payable(claimed, bounds, reported, countOutputTokens)
    },
    envelopeKey: envelopeKeyOf(engine.seal),
    realm: realmOf(attempt.route),
    settings: settingsOf(attempt.route),
    ...(mustKeepAll(attempt) && { whole: true }),
  }
}

const settingsOf = ({ channel }: Route): Translating['settings'] => ({
  ...channel.capabilities,
  autoCache: channel.autoCache === true,
})

/** The same for all calls: derived once. */
const envelopeKeys = new WeakMap<Seal, Uint8Array>()

function envelopeKeyOf(seal: Seal): Uint8Array {
  let key = envelopeKeys.get(seal)
  if (key === undefined) {
    key = seal.derive('reasoning envelopes')
    envelopeKeys.set(seal, key)
  }
  return key
}
