// What a provider is told of the upstream that one attempt goes to.
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Translating, Upstream } from '../../contract/provider.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { boundsAt } from '../admission/min-output.ts'
import type { TextBounds } from '../admission/text-bounds.ts'
import { clientFor } from '../telemetry/traces/traced-client.ts'
import { completeUsage, payable } from './complete-usage.ts'
import { holdSent } from './hold-sent.ts'
import { markFor } from './object-ids.ts'
import type { CallDeps, OpenCall, UpstreamAttempt } from './open-call.ts'
import { mustKeepAll } from './other-protocol.ts'

export const upstreamOf = (
  { http, seal, limits }: CallDeps,
  attempt: UpstreamAttempt,
  ctx: CallContext,
  size: CallSize,
): Upstream => {
  const { route, key, deadline, provider, withoutSeals } = attempt
  return {
    baseUrl: route.baseUrl,
    key,
    model: route.upstreamModel,
    timeouts: route.channel.timeouts,
    messages: route.channel.messages,
    ...(route.channel.autoCache && {
      autoCache: true,
      cacheControl: route.channel.capabilities?.cacheControl,
    }),
    ...(route.channel.capabilities?.streamOptions === false && { streamOptions: false }),
    http: ctx.trace === undefined ? http : clientFor(http, ctx.trace, route.channel),
    progress: deadline,
    queueKey: ctx.token.accountId,
    ...(withoutSeals && { withoutSeals }),
    ...(isStrict(route, ctx) && { strict: true }),
    ...(route.translated && {
      translating: translatingFor(seal, limits.bodyBytes, attempt, ctx, size),
    }),
    ...(provider.handsOutIds && {
      markFor: (id) => markFor(seal, ctx.token.accountId, { channel: route.channel, key }, id),
    }),
  }
}

/** What the call may use at most, and what it is counted as where nothing is reported. */
interface CallSize {
  maxOutputTokens: number
  inputTokens: number
  bounds: Pick<TextBounds, 'windowTokens' | 'outputTokens'>
  /** Absent where nothing is charged. */
  open?: OpenCall
}

/** From here on the call is bound by what it asks this upstream for. */
export function sizeAt(open: OpenCall, { route }: UpstreamAttempt): CallSize {
  const { admission, call } = open
  const bounds = boundsAt(admission.bounds, route)
  admission.bounds = bounds
  // What the hold is for.
  const maxOutputTokens = Math.floor(bounds.outputTokens / call.choices)
  return { maxOutputTokens, inputTokens: call.inputTokens, bounds, open }
}

const translatingFor = (
  seal: Seal,
  maxRequestBytes: number,
  attempt: UpstreamAttempt,
  ctx: CallContext,
  { maxOutputTokens, inputTokens, bounds, open }: CallSize,
): Translating => ({
  answerId: ctx.requestId.slice(ctx.requestId.indexOf('_') + 1),
  createdMs: ctx.atMs,
  maxOutputTokens,
  maxRequestBytes,
  approve: (grownBytes) => open && holdSent(open, grownBytes),
  chargedUsage(reported, countOutputTokens) {
    const claimed = completeUsage(reported, inputTokens, countOutputTokens)
    return payable(claimed, bounds, reported, countOutputTokens)
  },
  envelopeKey: envelopeKeyOf(seal),
  realm: realmOf(attempt.route),
  settings: settingsOf(attempt.route),
  ...(mustKeepAll(attempt) && { whole: true }),
})

const settingsOf = ({ channel }: Route): Translating['settings'] => ({
  ...channel.capabilities,
  autoCache: channel.autoCache === true,
})

/** Nothing may be left out of a request. */
export const isStrict = ({ channel }: Route, { token }: Pick<CallContext, 'token'>): boolean =>
  channel.translation === 'strict' || token.translation === 'strict'

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

/** Upstreams of one realm accept each other's seals of reasoning. */
export function realmOf(route: Route): string {
  let realm = realms.get(route)
  if (realm === undefined) {
    realm = `${route.protocol} ${route.channel.realm ?? new URL(route.baseUrl).host}`
    realms.set(route, realm)
  }
  return realm
}
