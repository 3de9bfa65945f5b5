// Pages of tasks of all accounts, by any filter, newest first or as asked. Filters are in the index: no task outside
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
  /** Else the newest comes first. */
  sort?: TaskSort | undefined
  /** The smallest, or the oldest, comes first. */
  isRising?: boolean | undefined
}

type TaskSort = 'time' | 'charge' | 'duration'

/** As the indexes have it; a task that is not over has no duration, and comes before all others. */
const sortedBy: Readonly<Record<TaskSort, RawBuilder<number>>> = {
  time: sql`created_at_ms`,
  charge: sql`charge_nanos`,
  duration: sql`(CASE WHEN finished_at_ms IS NULL THEN -1 ELSE finished_at_ms - created_at_ms END)`,
}

/** Index rows read for one page. */
const maxPolled = 50_000

/** Newest first, or as asked. A page may be short, even empty, and still have a next one. */
export async function listTaskRows(db: Kysely<Schema>, filter: TaskFilter): Promise<Page<Task>> {
  const { limit, cursor, accountId, sort = 'time', isRising = false } = filter
  const figure = sortedBy[sort]
  const direction = isRising ? sql`ASC` : sql`DESC`
  const { tag, endUser } = filter
  const wanted = conditionsOf(filter)
  const isTagged = tag !== undefined || endUser !== undefined
  const polled = sql`
    SELECT ${figure} AS figure, id, model, state, channel, interface${isTagged ? sql`, tags` : sql``}
    FROM tasks
    WHERE ${cursor === undefined ? sql`1 = 1` : behind(cursor, figure, isRising)}
      ${isTagged ? sql`AND tags IS NOT NULL` : sql``}
      ${accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`}
      ${within(filter)}
    ORDER BY ${figure} ${direction}, id ${direction}`
  const { rows: found } = await sql<{ id: string; figure: number | string }>`
    SELECT id, CAST(figure AS text) AS figure FROM (${polled} LIMIT ${maxPolled}) AS newest WHERE 1 = 1 ${sql.join(wanted, sql` `)}
    LIMIT ${limit + 1}`.execute(db)
  const rows = await tasksByIds(
    db,
    found.map(({ id }) => id),
  )
  const tasks = found.flatMap(({ id, figure: by }) => {
    const row = rows.get(id)
    return row === undefined ? [] : [{ by, row }]
  })
  const page = pageOf(
    tasks,
    limit,
    ({ by, row }) => `${by}.${row.id}`,
    ({ row }) => shape(row),
  )
  if (found.length > limit || wanted.length === 0) return page
  const { rows: rest } = await sql<{ figure: string; id: string }>`
    SELECT id, CAST(figure AS text) AS figure
    FROM (${polled} LIMIT 1 OFFSET ${maxPolled - 1}) AS newest`.execute(db)
  const last = rest[0]
  return last === undefined ? page : { ...page, nextCursor: cursorAt(`${last.figure}.${last.id}`) }
}

function conditionsOf(filter: TaskFilter): RawBuilder<unknown>[] {
  // The filter columns are in the index: no task outside the page is read.
  const wanted: RawBuilder<unknown>[] = (
    ['model', 'state', 'channel', 'interface'] as const
  ).flatMap((name) =>
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
  return wanted
}

const within = ({ fromMs, toMs }: TaskFilter) => sql`
  ${fromMs === undefined ? sql`` : sql`AND created_at_ms >= ${fromMs}`}
  ${toMs === undefined ? sql`` : sql`AND created_at_ms < ${toMs}`}`

async function tasksByIds(db: Kysely<Schema>, ids: readonly string[]) {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('tasks').select(listedColumns).where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Ids of different kinds are ordered by time only among themselves. */
function behind(
  cursor: string,
  figure: RawBuilder<number>,
  isRising: boolean,
): RawBuilder<SqlBool> {
  const [, value, id] = /^(-?\d{1,18})\.(.+)$/.exec(textCursor(cursor)) ?? []
  if (id === undefined) throw new BadCursor('unknown cursor')
  return sql<SqlBool>`(${figure}, id) ${isRising ? sql`>` : sql`<`} (${BigInt(value!)}, ${id})`
}
