// What a caller sees of its tasks: its own rows only, and of those only what it has not put away.
import type { Token } from '../../contract/catalog.ts'
import type { Task } from '../../contract/task.ts'
import { findTaskRow, listOwnTasks, type OwnTaskFilter, searchOwnTasks } from '../../store/tasks.ts'
import type { Engine } from '../engine.ts'

/** By the gateway's id or the upstream's. A foreign task is no task. */
export async function findTask(
  engine: Engine,
  token: Token,
  id: string,
): Promise<Task | undefined> {
  const task = await findTaskRow(engine.store.read, id, token.accountId)
  return task?.hidden === true ? undefined : task
}

export const listTasks = (
  engine: Engine,
  token: Token,
  page: { limit: number; after?: string | undefined; order?: 'asc' | 'desc' | undefined },
): Promise<Task[]> =>
  listOwnTasks(engine.store.read, token.accountId, { ...page, order: page.order ?? 'desc' })

/** A page by number, with the count of all that match. */
export const searchTasks = (
  engine: Engine,
  token: Token,
  filter: OwnTaskFilter,
): Promise<{ tasks: Task[]; total: number }> =>
  searchOwnTasks(engine.store.read, token.accountId, filter)
