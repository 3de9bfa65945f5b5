// Why a task cannot be cancelled, as far as that is known before its upstream is asked.
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Protocol } from '../../contract/catalog.ts'
import type { Provider } from '../../contract/provider.ts'
import { type CancelProblem, isEnd, isOwnCall, type Task } from '../../contract/task.ts'

export interface CancelDeps {
  readonly catalog: Pick<Catalog, 'channels'>
  readonly providers: ReadonlyMap<Protocol, Provider>
}

/** Undefined: its upstream can be asked; it may still have begun the task meanwhile. */
export function cancelProblem(
  { catalog, providers }: CancelDeps,
  task: Task,
): CancelProblem | undefined {
  const { state, upstreamId, channelId, protocol, kind } = task
  if (isEnd(state)) return 'over'
  if (isOwnCall(task)) return undefined
  if (upstreamId === undefined) return state === 'accepted' ? 'being_sent' : 'unclear'
  const channel = catalog.channels.find(({ id }) => id === channelId)
  if (channel?.protocols[protocol] === undefined) return 'channel_gone'
  if (providers.get(protocol)?.[kind]?.cancel === undefined) return 'upstream_cannot'
  // No upstream stops work on a video or an image that it has begun.
  return state === 'running' && kind !== 'response' ? 'begun' : undefined
}
