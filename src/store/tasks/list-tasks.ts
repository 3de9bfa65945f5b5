// Pages of tasks of all accounts, by any filter, newest first. Filters are in the index: no task outside
// the page is read.
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { endUserPair } from '../../contract/tags/index.ts'
import type { Task } from '../../contract/task.ts'
import type { Schema } from '../schema.ts'
import {
  BadCursor,
  cursorAt,
  type Page,
  type PageQuery,
  pageOf,
  textCursor,
} from '../sql/cursor.ts'
import { hasPair } from '../sql/tag-texts.ts'
import { listedColumns, shape } from './tasks.ts'

export interface TaskFilter extends PageQuery {
  accountId?: string | undefined
  model?: string | undefined
  state?: string | undefined
  channel?: string | undefined
  interface?: string | undefined
  /** State of its callback, or `failed`: an attempt failed, and none has succeeded since. */
  callback?: string | undefined
  /** `team=red` */
  tag?: string | undefined
  /** As the account keeps it. */
  endUser?: string | undefined
  /** Created from this moment on. */
  fromMs?: number | undefined
  /** Before this moment. */
  toMs?: number | undefined
}

/** Index rows read for one page. */
const maxPolled = 50_000

/** Newest first. A page may be short, even empty, and still have a next one. */
export async function listTaskRows(db: Kysely<Schema>, filter: TaskFilter): Promise<Page<Task>> {
  const { limit, cursor, accountId } = filter
  // The filter columns are in the index: no task outside the page is read.
  const wanted = (['model', 'state', 'channel', 'interface'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [sql`AND ${sql.ref(name)} = ${filter[name]}`],
  )
  const { tag, endUser, callback } = filter
  if (callback !== undefined) {
    const fits =
      callback === 'failed'
        ? sql`c.state <> 'delivered' AND c.attempts > 0`
        : sql`c.state = ${callback}`
    wanted.push(sql`AND EXISTS (
      SELECT 1 FROM callbacks AS c WHERE c.task_id = newest.id AND ${fits})`)
  }
  if (tag !== undefined) wanted.push(sql`AND ${hasPair(tag)}`)
  if (endUser !== undefined) wanted.push(sql`AND ${hasPair(endUserPair(endUser))}`)
  const isTagged = tag !== undefined || endUser !== undefined
  const polled = sql`
    SELECT created_at_ms, id, model, state, channel, interface${isTagged ? sql`, tags` : sql``}
    FROM tasks
    WHERE ${cursor === undefined ? sql`1 = 1` : before(cursor)}
      ${isTagged ? sql`AND tags IS NOT NULL` : sql``}
      ${accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`}
      ${within(filter)}
    ORDER BY created_at_ms DESC, id DESC`
  const { rows: found } = await sql<{ id: string }>`
    SELECT id FROM (${polled} LIMIT ${maxPolled}) AS newest WHERE 1 = 1 ${sql.join(wanted, sql` `)}
    LIMIT ${limit + 1}`.execute(db)
  const ids = found.map(({ id }) => id)
  const rows = ids.length === 0 ? [] : await tasksByIds(db, ids)
  const page = pageOf(rows, limit, (row) => `${row.created_at_ms}.${row.id}`, shape)
  if (found.length > limit || wanted.length === 0) return page
  const { rows: rest } = await sql<{ created_at_ms: number; id: string }>`
    ${polled} LIMIT 1 OFFSET ${maxPolled - 1}`.execute(db)
  const last = rest[0]
  return last === undefined
    ? page
    : { ...page, nextCursor: cursorAt(`${last.created_at_ms}.${last.id}`) }
}

const within = ({ fromMs, toMs }: TaskFilter) => sql`
  ${fromMs === undefined ? sql`` : sql`AND created_at_ms >= ${fromMs}`}
  ${toMs === undefined ? sql`` : sql`AND created_at_ms < ${toMs}`}`

const tasksByIds = (db: Kysely<Schema>, ids: readonly string[]) =>
  db
    .selectFrom('tasks')
    .select(listedColumns)
    .where('id', 'in', ids)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** Ids of different kinds are ordered by time only among themselves. */
function before(cursor: string): RawBuilder<SqlBool> {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(textCursor(cursor)) ?? []
  if (id === undefined) throw new BadCursor('unknown cursor')
  return sql<SqlBool>`(created_at_ms, id) < (${Number(ms)}, ${id})`
}
