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
  { baseUrl, protocol, channel }: Route,
  { ctx: { requestId, atMs }, admission, call }: OpenCall,
): Translating => ({
  answerId: requestId.slice(requestId.indexOf('_') + 1),
  createdMs: atMs,
  // What the hold is for: an upstream that needs a limit gets this one.
  maxOutputTokens: Math.floor(admission.bounds.outputTokens / call.choices),
  envelopeKey: seal.derive('reasoning envelopes'),
  realm: `${protocol} ${new URL(baseUrl).host}`,
  strict: channel.translation === 'strict',
  settings: { ...channel.capabilities, autoCache: channel.autoCache === true },
})
