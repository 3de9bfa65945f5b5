// Who asked to be told of an end has been told of it, and of no other; or will be, or wants no more.
import type { Calling } from '../callers/callers.ts'
import type { Receivers } from '../callers/receivers.ts'
import { taskRows } from './tasks.ts'

interface CallbackRow {
  task_id: string
  url: string
  state: string
  attempts: number
}

export function judgeNotices(calling: Calling, receivers: Receivers): void {
  const { stage, books } = calling
  const { world, db } = stage
  const callbacks = new Map<string, CallbackRow>()
  const { rows } = db.query<CallbackRow>('SELECT task_id, url, state, attempts FROM callbacks')
  for (const row of rows) {
    if (callbacks.has(row.task_id)) world.blame(`task ${row.task_id} has two callbacks`)
    callbacks.set(row.task_id, row)
  }
  for (const task of taskRows(calling)) {
    const { callbackUrl, error } = JSON.parse(task.body) as { callbackUrl?: string; error?: object }
    const row = callbacks.get(task.id)
    const got = receivers.arrived.get(task.id) ?? []
    for (const notice of got) {
      if (notice.state === task.state && notice.requestId === task.request_id) continue
      world.blame(
        `task ${task.id} is ${task.state}, its receiver was told ${JSON.stringify(notice)}`,
      )
    }
    if (callbackUrl === undefined) {
      if (row !== undefined) world.blame(`task ${task.id} has a callback nobody asked for`)
      continue
    }
    // Nobody is told what they know: what they cancelled, and what was refused in the answer itself.
    const mayBeKnown =
      task.state === 'cancelled' || (task.state === 'failed' && task.upstream_id === null)
    if (row === undefined && !mayBeKnown) {
      world.blame(`nobody will be told of ${task.id} (${task.state}, ${JSON.stringify(error)})`)
    }
    if (row?.state === 'delivered' && got.length === 0) {
      world.blame(`the notice of ${task.id} is called delivered and has not arrived`)
    }
    if (row?.state === 'given_up' && !receivers.gone.has(row.url)) {
      world.blame(`the notice of ${task.id} was given up after ${row.attempts} attempts`)
    }
  }
  void books
}
