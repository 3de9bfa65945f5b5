// What a caller sees of its tasks: its own rows only, without those it has deleted.

import type { CallerTaskFilter } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { interfaceRows, interfaces } from '../../contract/config-schema/names.ts'
import type { ImageTask, Task, TaskKind, VideoTask } from '../../contract/task.ts'
import { listCallerTasks, searchCallerTasks } from '../../store/tasks/caller-tasks.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import { type KeptDeps, withTrueExpiry } from '../results/kept-media.ts'

/**
 * By the gateway's id or the upstream's. Another account's task is not found, nor one of another
 * kind.
 */
export async function findTask<Kind extends TaskKind>(
  deps: KeptDeps,
  token: Token,
  id: string,
  kind: Kind,
): Promise<Extract<Task, { kind: Kind }> | undefined> {
  const task = await findOwnRow(deps, token, id)
  if (task?.kind !== kind) return undefined
  const [shown] = await withTrueExpiry(deps, [task])
  return shown as Extract<Task, { kind: Kind }>
}

/** The same as stored, for code that will write it again. */
export async function findOwnRow(
  deps: KeptDeps,
  token: Token,
  id: string,
): Promise<Task | undefined> {
  const task = await findTaskRow(deps.store.read, id, token.accountId)
  return task?.hidden === true ? undefined : task
}

/** Also one deleted since: a list continues after it. */
export async function isOwnVideo(deps: KeptDeps, token: Token, id: string): Promise<boolean> {
  const task = await findTaskRow(deps.store.read, id, token.accountId)
  return task?.id === id && task.kind === 'video'
}

export const listVideos = async (
  deps: KeptDeps,
  token: Token,
  { order = 'desc', ...page }: { limit: number; after?: string | undefined; order?: Order },
): Promise<VideoTask[]> => {
  const filter = { ...page, order, interfaces: videoInterfaces }
  const tasks = await listCallerTasks(deps.store.read, token.accountId, filter)
  return (await withTrueExpiry(deps, tasks)).filter(isVideo)
}

const videoInterfaces = interfaces.filter((use) => interfaceRows[use]?.kind === 'video')
const isVideo = (task: Task): task is VideoTask => task.kind === 'video'

type Order = 'asc' | 'desc' | undefined

/** A page by number, with the count of all that match. */
export async function searchVideos(
  deps: KeptDeps,
  token: Token,
  filter: CallerTaskFilter,
): Promise<{ tasks: VideoTask[]; total: number }> {
  const scope = filter.protocol === undefined && { interfaces: videoInterfaces }
  const search = { ...scope, ...filter }
  const { tasks, total } = await searchCallerTasks(deps.store.read, token.accountId, search)
  return { tasks: (await withTrueExpiry(deps, tasks)).filter(isVideo), total }
}

/** A page by number of the image tasks. */
export async function searchImages(
  deps: KeptDeps,
  token: Token,
  filter: CallerTaskFilter,
): Promise<ImageTask[]> {
  const { tasks } = await searchCallerTasks(deps.store.read, token.accountId, filter)
  return (await withTrueExpiry(deps, tasks)).filter((task) => task.kind === 'image')
}
