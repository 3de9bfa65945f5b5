// Tasks as their caller lists and searches them: those of one account, without deleted ones.
// Searchable fields are in the index, so that counting reads no task.

import type { Kysely } from 'kysely'
import type { CallerTaskFilter } from '../../contract/caller-api.ts'
import type { Interface } from '../../contract/catalog.ts'
import type { Task } from '../../contract/task.ts'
import type { Schema } from '../schema.ts'
import { listedColumns, shape } from './tasks.ts'

/** Tasks visible to a caller; ids are ordered by time and serve as cursors. */
export async function listCallerTasks(
  db: Kysely<Schema>,
  accountId: string,
  page: {
    limit: number
    after?: string | undefined
    order: 'asc' | 'desc'
    interfaces?: readonly Interface[]
  },
): Promise<Task[]> {
  let query = db
    .selectFrom('tasks')
    .select(listedColumns)
    .where('account_id', '=', accountId)
    .where('hidden', '=', 0)
    .orderBy('id', page.order)
    .limit(page.limit)
  if (page.interfaces !== undefined) query = query.where('interface', 'in', page.interfaces)
  if (page.after !== undefined) {
    query = query.where('id', page.order === 'desc' ? '<' : '>', page.after)
  }
  return (await query.execute()).map(shape)
}

/** A page of an account's own tasks, newest first, and their total number. */
export async function searchCallerTasks(
  db: Kysely<Schema>,
  accountId: string,
  { limit, offset, states, ids, model, interfaces, protocol }: CallerTaskFilter,
): Promise<{ tasks: Task[]; total: number }> {
  let query = db.selectFrom('tasks').where('account_id', '=', accountId).where('hidden', '=', 0)
  if (protocol !== undefined) query = query.where('protocol', '=', protocol)
  if (interfaces !== undefined) query = query.where('interface', 'in', interfaces)
  if (states !== undefined) query = query.where('state', 'in', states)
  if (ids !== undefined) {
    query = query.where((e) => e.or([e('id', 'in', ids), e('upstream_id', 'in', ids)]))
  }
  if (model !== undefined) {
    query = query.where((e) => e.or([e('model', '=', model), e('upstream_model', '=', model)]))
  }
  const counted = await query.select((e) => e.fn.countAll().as('total')).executeTakeFirstOrThrow()
  const page = query.select(listedColumns).orderBy('id', 'desc').limit(limit).offset(offset)
  return { tasks: (await page.execute()).map(shape), total: Number(counted.total) }
}
