// Which channel serves a call: the highest priority that has room, by weight among equals, and the
// next of its keys in turn.
import type { Route } from '../catalog/snapshot.ts'
import { type Refusal, refuse } from '../contract/errors.ts'
import type { Engine } from './engine.ts'

export interface PickedRoute {
  route: Route
  key: string
}

export function pickRoute(engine: Engine, routes: readonly Route[]): PickedRoute | Refusal {
  const open =
    routes.length === 1 && hasRoom(engine, routes[0]!)
      ? routes
      : routes.filter((route) => hasRoom(engine, route))
  const best = open[0]
  if (best === undefined) {
    return refuse('no_available_channel', 'no channel can serve this model at the moment', {
      retryAfterSeconds: 1,
    })
  }
  const route = open.length === 1 ? best : byWeight(engine, open)
  return { route, key: nextKey(engine, route) }
}

const hasRoom = (engine: Engine, { channel }: Route): boolean =>
  (engine.busy.get(channel.id) ?? 0) < channel.maxConcurrency

function byWeight(engine: Engine, open: readonly Route[]): Route {
  const top = open.filter((route) => route.channel.priority === open[0]!.channel.priority)
  const total = top.reduce((sum, { channel }) => sum + channel.weight, 0)
  let left = engine.random() * total
  for (const route of top) {
    left -= route.channel.weight
    if (left < 0) return route
  }
  return top[0]!
}

function nextKey(engine: Engine, { channel }: Route): string {
  if (channel.keys.length <= 1) return channel.keys[0] ?? ''
  const turn = engine.keyTurns.get(channel.id) ?? 0
  engine.keyTurns.set(channel.id, turn + 1)
  return channel.keys[turn % channel.keys.length]!
}
