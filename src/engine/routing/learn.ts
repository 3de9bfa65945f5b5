// Updates channel state from the outcome of a call: health, keys, entitlements.
import type { UpstreamError } from '../../contract/provider.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ChannelState } from './channel-state.ts'
import { type FailureKind, failureKind, faultOf } from './faults.ts'
import type { PickedRoute } from './pick-route.ts'

export interface LearnDeps {
  readonly entitlements: {
    granted(channelId: string, model: string): void
    refused(channelId: string, model: string, hasWorked: boolean): void
  }
  readonly clock: Clock
}

/** How long a key is skipped after a refusal other than throttling. */
const refusedKeyMs = 60_000
/** How long a protocol is skipped whose path the upstream does not have. */
const missingPathMs = 60_000

export function recordSuccess(
  { entitlements }: LearnDeps,
  { route, key, channelState }: PickedRoute,
  model: string,
) {
  channelState.health.succeeded()
  channelState.keySucceeded(route.channel, key)
  channelState.foundPath(route.protocol)
  if (!channelState.worked.has(model)) channelState.worked.add(model)
  entitlements.granted(route.channel.id, model)
}

/** `kind`: where more is known of the call than of the error. */
export function recordFailure(
  deps: LearnDeps,
  asked: PickedRoute,
  model: string,
  error: UpstreamError,
  kind: FailureKind = failureKind(error),
): void {
  const { route, key, channelState } = asked
  const nowMs = deps.clock.nowMs()
  const { about } = error
  if (faultOf(kind) !== 'channel') {
    // A refusal of the request itself shows that the channel is healthy.
    if (faultOf(kind) === 'caller' && kind === error.code) channelState.health.succeeded()
    dropProbes(asked)
    return
  }
  if (about === undefined) recordHealth(channelState, error, nowMs)
  dropProbes(asked)
  // The sandbox is entitled to everything; it refuses only on request.
  if (about === 'model' && route.channel.source !== 'builtin') {
    deps.entitlements.refused(route.channel.id, model, channelState.worked.has(model))
  } else if (about === 'path') {
    channelState.missPath(route.protocol, nowMs + missingPathMs)
  } else if (about === 'key') {
    const trouble = channelState.keyBreaker(key)
    trouble.throttled = error.code === 'upstream_rate_limited'
    trouble.failed(nowMs, pauseMs(error))
  }
}

function recordHealth({ health }: ChannelState, error: UpstreamError, nowMs: number): void {
  health.failed(nowMs)
  if (error.retryAfterSeconds !== undefined) {
    health.pauseFor(nowMs, error.retryAfterSeconds * 1000)
  }
}

/** A probe without a result: its caller left, or the request itself was refused. */
export function dropProbes({ probe, key, channelState }: PickedRoute): void {
  if (probe !== true) return
  channelState.health.dropProbe()
  channelState.dropKeyProbe(key)
}

function pauseMs({ code, retryAfterSeconds }: UpstreamError): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000
  return code === 'upstream_rate_limited' ? undefined : refusedKeyMs
}

/** Another channel would refuse it too, or the channel was not the cause. */
export const isAboutRequest = (error: UpstreamError): boolean => {
  const kind = failureKind(error)
  return faultOf(kind) === 'caller' || kind === 'internal_error'
}
