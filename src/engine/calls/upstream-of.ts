// What a provider is told of the upstream that one attempt goes to.
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Translating, Upstream } from '../../contract/provider.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { clientFor } from '../telemetry/traces/traced-client.ts'
import { markFor } from './object-ids.ts'
import type { CallDeps, OpenCall, UpstreamAttempt } from './open-call.ts'

export const upstreamOf = (
  { http, seal }: CallDeps,
  { route, key, deadline, provider }: UpstreamAttempt,
  ctx: CallContext,
  /** For an upstream that needs an output limit. */
  maxOutputTokens: number,
): Upstream => ({
  baseUrl: route.baseUrl,
  key,
  model: route.upstreamModel,
  timeouts: route.channel.timeouts,
  messages: route.channel.messages,
  ...(route.channel.autoCache && {
    autoCache: true,
    cacheControl: route.channel.capabilities?.cacheControl,
  }),
  http: ctx.trace === undefined ? http : clientFor(http, ctx.trace, route.channel),
  progress: deadline,
  ...(route.translated && { translating: translatingFor(seal, route, ctx, maxOutputTokens) }),
  ...(provider.handsOutIds && {
    markFor: (id) => markFor(seal, ctx.token.accountId, { channel: route.channel, key }, id),
  }),
})

/** What the hold is for. */
export const outputLimitOf = ({ admission, call }: OpenCall): number =>
  Math.floor(admission.bounds.outputTokens / call.choices)

const translatingFor = (
  seal: Seal,
  route: Route,
  { requestId, atMs, token }: CallContext,
  maxOutputTokens: number,
): Translating => ({
  answerId: requestId.slice(requestId.indexOf('_') + 1),
  createdMs: atMs,
  maxOutputTokens,
  envelopeKey: envelopeKeyOf(seal),
  realm: realmOf(route),
  strict: route.channel.translation === 'strict' || token.translation === 'strict',
  settings: { ...route.channel.capabilities, autoCache: route.channel.autoCache === true },
})

/** The same for all calls: derived once. */
const envelopeKeys = new WeakMap<Seal, Uint8Array>()
const realms = new WeakMap<Route, string>()

function envelopeKeyOf(seal: Seal): Uint8Array {
  let key = envelopeKeys.get(seal)
  if (key === undefined) {
    key = seal.derive('reasoning envelopes')
    envelopeKeys.set(seal, key)
  }
  return key
}

function realmOf(route: Route): string {
  let realm = realms.get(route)
  if (realm === undefined) {
    realm = `${route.protocol} ${new URL(route.baseUrl).host}`
    realms.set(route, realm)
  }
  return realm
}
