// A call that cannot be translated into the protocol that was picked, at a channel that has others. First
// each is asked to carry all settings of the request, then to carry it with losses.
import type { Route } from '../../catalog/snapshot.ts'
import { ensure } from '../../lib/ensure.ts'
import type { CallDeps, UpstreamAttempt } from './open-call.ts'

/** Another protocol may carry what this one would lose. */
export const mustKeepAll = ({ route, firstRoute, mayLose }: UpstreamAttempt): boolean =>
  !mayLose && (route.fallback !== undefined || firstRoute !== undefined)

/** At the same place, which the call keeps: nothing was sent. Undefined when none is left. */
export function byOtherProtocol(
  engine: CallDeps,
  attempt: UpstreamAttempt,
): UpstreamAttempt | undefined {
  const firstRoute = attempt.firstRoute ?? attempt.route
  const next = nextThere(engine, attempt)
  if (next !== undefined) return atRoute(engine, { ...attempt, firstRoute }, next)
  if (!mustKeepAll(attempt)) return undefined
  return atRoute(engine, { ...attempt, firstRoute, mayLose: true }, firstRoute)
}

/** Whose path the upstream has. */
function nextThere(
  { clock }: CallDeps,
  { route, channelState }: UpstreamAttempt,
): Route | undefined {
  let next = route.fallback
  while (next !== undefined && channelState.pathState(next.protocol, clock.nowMs()) !== 'good') {
    next = next.fallback
  }
  return next
}

function atRoute(engine: CallDeps, attempt: UpstreamAttempt, route: Route): UpstreamAttempt {
  const provider = engine.providers.get(route.protocol)?.text
  ensure(provider !== undefined, `provider ${route.protocol} speaks text`)
  return { ...attempt, route, provider }
}
