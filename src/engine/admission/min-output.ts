// What a route makes of the bounds of a call: upstreams of a protocol that take no lower limit of the output,
// where a call is translated, and rules of a channel that change the request. What is held covers both.
import type { Route } from '../../catalog/snapshot.ts'
import { interfaceRows } from '../../contract/config-schema/names.ts'
import { ruledBounds } from './ruled-bounds.ts'
import type { TextBounds } from './text-bounds.ts'

const minOutputOf = ({ translated, protocol }: Route): number =>
  translated ? (interfaceRows[protocol]?.minOutputTokens ?? 0) : 0

let highest: number | undefined

/** Of all protocols: nearly every call has a higher limit. */
function highestMinimum(): number {
  highest ??= Math.max(...Object.values(interfaceRows).map(lowestLimit))
  return highest
}

const lowestLimit = ({ minOutputTokens }: { minOutputTokens?: number }): number =>
  minOutputTokens ?? 0

/** The most that any of the routes may be asked for. */
export function heldBounds(bounds: TextBounds, routes: readonly Route[]): TextBounds {
  const ruled = routes.some(hasBodyRules) ? ruledForAll(bounds, routes) : bounds
  if (ruled.outputTokens >= highestMinimum()) return ruled
  let min = 0
  for (const first of routes) {
    for (let route: Route | undefined = first; route !== undefined; route = route.fallback) {
      min = Math.max(min, minOutputOf(route))
    }
  }
  return atLeast(ruled, min)
}

const hasBodyRules = ({ channel }: Route): boolean => channel.request?.body !== undefined

function ruledForAll(bounds: TextBounds, routes: readonly Route[]): TextBounds {
  const ruled = routes.map(({ channel }) => ruledBounds(bounds, channel))
  return {
    ...bounds,
    inputTokens: Math.max(...ruled.map(({ inputTokens }) => inputTokens)),
    outputTokens: Math.max(...ruled.map(({ outputTokens }) => outputTokens)),
  }
}

/** Those of a call by one route: as the caller set them, or raised. */
export function boundsAt(bounds: TextBounds, route: Route): TextBounds {
  if (bounds.ruledFrom !== undefined || hasBodyRules(route)) {
    const plain = bounds.ruledFrom ?? bounds
    const ruled = ruledBounds(plain, route.channel)
    return ruled === plain ? atRoute(plain, route) : { ...atRoute(ruled, route), ruledFrom: plain }
  }
  return atRoute(bounds, route)
}

function atRoute(bounds: TextBounds, route: Route): TextBounds {
  if (bounds.outputTokens > highestMinimum()) return bounds
  return atLeast(asSet(bounds), minOutputOf(route))
}

function asSet(bounds: TextBounds): TextBounds {
  if (bounds.raisedFrom === undefined) return bounds
  const { raisedFrom: outputTokens, ...rest } = bounds
  return { ...rest, outputTokens }
}

const atLeast = (bounds: TextBounds, min: number): TextBounds =>
  bounds.outputTokens >= min
    ? bounds
    : { ...bounds, outputTokens: min, raisedFrom: bounds.outputTokens }
