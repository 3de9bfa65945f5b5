// Picks a channel and takes a slot there in one step, so that no other call gets it in between.
// When all channels are full, the call waits briefly.
import type { Route } from '../../catalog/snapshot.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Placement } from './affinity.ts'
import { type PickedRoute, pickRoute, type RouteDeps, type Tried } from './pick-route.ts'
import type { WaitingRoom } from './waiting-room.ts'

export interface PlaceDeps extends RouteDeps {
  readonly routing: RouteDeps['routing'] & { readonly waiting: WaitingRoom }
  readonly limits: { queueMs: number }
}

/** What looks for a slot. */
interface PlaceFor {
  readonly routes: readonly Route[]
  /** An account, or all calls of low priority. */
  readonly slotOwner: string
  readonly tried?: Tried | undefined
  readonly placement?: Placement | undefined
}

/** Takes a slot if there is one now. `full`: waiting may help. */
export function takeFreePlace(
  deps: RouteDeps,
  { routes, slotOwner, tried, placement }: PlaceFor,
): PickedRoute | 'full' | Refusal {
  const picked = pickRoute(deps, routes, slotOwner, tried, placement)
  if (typeof picked === 'object' && 'route' in picked) picked.channelState.take(slotOwner)
  return picked
}

/** `signal` is aborted when the caller hangs up. */
export function takePlace(
  deps: PlaceDeps,
  wanted: PlaceFor,
  signal: AbortSignal,
): PickedRoute | Refusal | Promise<PickedRoute | Refusal> {
  const taken = takeFreePlace(deps, wanted)
  return taken === 'full' ? waitForPlace(deps, wanted, signal) : taken
}

async function waitForPlace(
  deps: PlaceDeps,
  wanted: PlaceFor,
  signal: AbortSignal,
): Promise<PickedRoute | Refusal> {
  const channels = wanted.routes.map(({ channel }) => channel.id)
  const untilMs = deps.clock.nowMs() + deps.limits.queueMs
  for (;;) {
    const leftMs = untilMs - deps.clock.nowMs()
    const freed = await deps.routing.waiting.wait(wanted.slotOwner, channels, leftMs, signal)
    const taken = takeFreePlace(deps, wanted)
    if (taken !== 'full') return taken
    if (!freed) return allFull
  }
}

/** Waiting has not helped. */
export const allFull = refuse('no_available_channel', 'every channel for this model is busy', {
  retryAfterSeconds: 1,
})
