// The lowest limit of the output that upstreams of a protocol take. Where a call is translated, a lower
// one of the caller is raised to it; what is held covers that.
import type { Route } from '../../catalog/snapshot.ts'
import { interfaceRows } from '../../contract/config-schema/names.ts'
import type { TextBounds } from './text-bounds.ts'

const minOutputOf = ({ translated, protocol }: Route): number =>
  translated ? (interfaceRows[protocol]?.minOutputTokens ?? 0) : 0

let highest: number | undefined

/** Of all protocols: nearly every call has a higher limit. */
function highestMinimum(): number {
  highest ??= Math.max(
    ...Object.values(interfaceRows).map(({ minOutputTokens }) => minOutputTokens ?? 0),
  )
  return highest
}

/** The most that any of the routes may be asked for. */
export function heldBounds(bounds: TextBounds, routes: readonly Route[]): TextBounds {
  if (bounds.outputTokens >= highestMinimum()) return bounds
  let min = 0
  for (const first of routes) {
    for (let route: Route | undefined = first; route !== undefined; route = route.fallback) {
      min = Math.max(min, minOutputOf(route))
    }
  }
  return atLeast(bounds, min)
}

/** Those of a call by one route: as the caller set them, or raised. */
export function boundsAt(bounds: TextBounds, route: Route): TextBounds {
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
