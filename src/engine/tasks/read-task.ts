// What a caller sees of its tasks: its own rows only, and of those only what it has not put away.
import type { Token } from '../../contract/catalog.ts'
import type { Task } from '../../contract/task.ts'
import { findTaskRow, listOwnTasks, type OwnTaskFilter, searchOwnTasks } from '../../store/tasks.ts'
import type { Engine } from '../engine.ts'
import { withTrueExpiry } from './kept-media.ts'

/** By the gateway's id or the upstream's. A foreign task is no task. */
export async function findTask(
  engine: Engine,
  token: Token,
  id: string,
): Promise<Task | undefined> {
  const task = await findOwnRow(engine, token, id)
  return task === undefined ? undefined : (await withTrueExpiry(engine, [task]))[0]
}

/** The same as it is stored, for those who will write it again. */
export async function findOwnRow(
  engine: Engine,
  token: Token,
  id: string,
): Promise<Task | undefined> {
  const task = await findTaskRow(engine.store.read, id, token.accountId)
  return task?.hidden === true ? undefined : task
}

export const listTasks = async (
  engine: Engine,
  token: Token,
  { order = 'desc', ...page }: { limit: number; after?: string | undefined; order?: Order },
): Promise<Task[]> =>
  withTrueExpiry(engine, await listOwnTasks(engine.store.read, token.accountId, { ...page, order }))

type Order = 'asc' | 'desc' | undefined

/** A page by number, with the count of all that match. */
export async function searchTasks(
  engine: Engine,
  token: Token,
  filter: OwnTaskFilter,
): Promise<{ tasks: Task[]; total: number }> {
  const { tasks, total } = await searchOwnTasks(engine.store.read, token.accountId, filter)
  return { tasks: await withTrueExpiry(engine, tasks), total }
}
