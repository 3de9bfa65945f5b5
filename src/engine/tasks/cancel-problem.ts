// Why a task cannot be cancelled, as far as that is known before its upstream is asked.
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Protocol } from '../../contract/catalog.ts'
import type { Provider } from '../../contract/provider.ts'
import { type CancelProblem, isEnd, type Task } from '../../contract/task.ts'

export interface CancelDeps {
  readonly catalog: Pick<Catalog, 'channels'>
  readonly providers: ReadonlyMap<Protocol, Provider>
}

/** Undefined: its upstream can be asked; it may still have begun the task meanwhile. */
export function cancelProblem(
  { catalog, providers }: CancelDeps,
  { state, upstreamId, channelId, protocol, kind }: Task,
): CancelProblem | undefined {
  if (isEnd(state)) return 'over'
  if (upstreamId === undefined) return state === 'accepted' ? 'being_sent' : 'unclear'
  const channel = catalog.channels.find(({ id }) => id === channelId)
  if (channel?.protocols[protocol] === undefined) return 'channel_gone'
  if (providers.get(protocol)?.[kind]?.cancel === undefined) return 'upstream_cannot'
  // No upstream stops work that it has begun.
  return state === 'running' ? 'begun' : undefined
}
