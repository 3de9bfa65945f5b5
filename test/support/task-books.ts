// The tasks of a running gateway as an operator sees them, page by page over the admin API.
import type { TaskState } from '../../src/contract/task.ts'
import { type LedgerEntry, readLedger } from './books.ts'
import type { TestGateway } from './gateway.ts'

export interface TaskRow {
  id: string
  state: TaskState
  model: string
  upstream_id: string | null
  hold: string
  charge: string
  request: { prompt: string }
  error: { code: string } | null
}

export const isOver = ({ state }: TaskRow): boolean =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled'

/** Its create was refused: for callers there is no such task. */
export const isRefusedCreate = ({ state, upstream_id, error }: TaskRow): boolean =>
  state === 'failed' && upstream_id === null && error?.code !== 'upstream_outcome_unknown'

export async function readTasks(gateway: Pick<TestGateway, 'admin'>): Promise<TaskRow[]> {
  const all: TaskRow[] = []
  let cursor: string | null = null
  do {
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await gateway.admin('GET', `/tasks?limit=100${from}`)
    if (status !== 200) throw new Error(`the tasks answered ${status}`)
    all.push(...(body.items as TaskRow[]))
    cursor = body.next_cursor as string | null
  } while (cursor !== null)
  return all
}

export type TaskEntry = LedgerEntry & { task_id: string | null }

/** Everything booked for the account, with the task each entry is for. */
export const readTaskLedger = async (gateway: Pick<TestGateway, 'admin'>): Promise<TaskEntry[]> =>
  (await readLedger(gateway)) as TaskEntry[]
