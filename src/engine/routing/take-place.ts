// Picks a channel and takes a slot there in one step, so that no other call gets it in between.
// When all channels are full, the call waits briefly.
import type { Route } from '../../catalog/snapshot.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Engine } from '../engine.ts'
import { type PickedRoute, pickRoute, type Tried } from './pick-route.ts'

interface PlaceFor<Taken> {
  accountId: string
  /** Aborted when the caller hangs up. */
  signal: AbortSignal
  tried?: Tried | undefined
  /** Must take the slot before it returns. */
  take: (picked: PickedRoute) => Taken
}

type Outcome<Taken> = Taken | Refusal

export function takePlace<Taken>(
  engine: Engine,
  routes: readonly Route[],
  wanted: PlaceFor<Taken>,
): Outcome<Taken> | Promise<Outcome<Taken>> {
  const picked = pickRoute(engine, routes, wanted.accountId, wanted.tried)
  if (picked === 'full') return waitForPlace(engine, routes, wanted)
  return picked instanceof Refusal ? picked : wanted.take(picked)
}

async function waitForPlace<Taken>(
  engine: Engine,
  routes: readonly Route[],
  { accountId, signal, tried, take }: PlaceFor<Taken>,
): Promise<Outcome<Taken>> {
  const channels = routes.map(({ channel }) => channel.id)
  const untilMs = engine.clock.nowMs() + engine.limits.queueMs
  for (;;) {
    const leftMs = untilMs - engine.clock.nowMs()
    const freed = await engine.routing.waiting.wait(accountId, channels, leftMs, signal)
    const picked = pickRoute(engine, routes, accountId, tried)
    if (picked instanceof Refusal) return picked
    if (picked !== 'full') return take(picked)
    if (!freed) return allFull
  }
}

const allFull = refuse('no_available_channel', 'every channel for this model is busy', {
  retryAfterSeconds: 1,
})
