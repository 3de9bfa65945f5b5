// Tags of losses: those of the request or the task that they are of, for as long as its row is kept.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** By request or task id; those without tags are left out. */
export async function tagsOfRefs(
  db: Kysely<Schema>,
  refs: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [calls, tasks] = [
    refs.filter((ref) => ref.startsWith('req_')),
    refs.filter((ref) => !ref.startsWith('req_')),
  ]
  const found = new Map<string, string>()
  if (calls.length > 0) {
    const rows = await db
      .selectFrom('requests')
      .select(['request_id', 'tags'])
      .where('request_id', 'in', calls)
      .execute()
    for (const { request_id, tags } of rows) if (tags !== null) found.set(request_id, tags)
  }
  if (tasks.length > 0) {
    const rows = await db
      .selectFrom('tasks')
      .select(['id', 'tags'])
      .where('id', 'in', tasks)
      .execute()
    for (const { id, tags } of rows) if (tags !== null) found.set(id, tags)
  }
  return found
}
