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
  { trace, token }: Pick<CallContext, 'trace' | 'token'>,
  open?: OpenCall,
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
  http: trace === undefined ? http : clientFor(http, trace, route.channel),
  progress: deadline,
  ...(route.translated && open !== undefined && { translating: translatingFor(seal, route, open) }),
  ...(provider.handsOutIds && {
    markFor: (id) => markFor(seal, token.accountId, { channel: route.channel, key }, id),
  }),
})

const translatingFor = (
  seal: Seal,
  route: Route,
  { ctx: { requestId, atMs }, admission, call }: OpenCall,
): Translating => ({
  answerId: requestId.slice(requestId.indexOf('_') + 1),
  createdMs: atMs,
  // What the hold is for: an upstream that needs a limit gets this one.
  maxOutputTokens: Math.floor(admission.bounds.outputTokens / call.choices),
  envelopeKey: envelopeKeyOf(seal),
  realm: realmOf(route),
  strict: route.channel.translation === 'strict',
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
