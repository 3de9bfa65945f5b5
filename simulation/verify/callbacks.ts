// Verifies callbacks: a receiver got the end of its task, or will get it, or has unsubscribed, and got no other.
import type { Calling } from '../callers/calling.ts'
import type { Receivers } from '../callers/receivers.ts'
import { taskRows } from './tasks.ts'

interface CallbackRow {
  task_id: string
  url: string
  state: string
  attempts: number
}

export function verifyCallbacks(calling: Calling, receivers: Receivers): void {
  const { world, db } = calling.context
  const callbacks = new Map<string, CallbackRow>()
  const { rows } = db.query<CallbackRow>('SELECT task_id, url, state, attempts FROM callbacks')
  for (const row of rows) {
    if (callbacks.has(row.task_id)) world.addViolation(`task ${row.task_id} has two callbacks`)
    callbacks.set(row.task_id, row)
  }
  for (const task of taskRows(calling)) {
    const got = receivers.arrived.get(task.id) ?? []
    for (const notice of got) {
      if (notice.state === task.state && notice.requestId === task.request_id) continue
      world.addViolation(
        `task ${task.id} is ${task.state}, its receiver got ${JSON.stringify(notice)}`,
      )
    }
    const { callbackUrl, error } = JSON.parse(task.body) as { callbackUrl?: string; error?: object }
    const row = callbacks.get(task.id)
    if (callbackUrl === undefined) {
      if (row !== undefined)
        world.addViolation(`task ${task.id} has a callback without a callback URL`)
      continue
    }
    // No callback for what the caller knows: its own cancel, and a refusal in the reply itself.
    const mayBeKnown =
      task.state === 'cancelled' || (task.state === 'failed' && task.upstream_id === null)
    if (row === undefined && !mayBeKnown) {
      world.addViolation(
        `no callback will be sent for ${task.id} (${task.state}, ${JSON.stringify(error)})`,
      )
    }
    if (row?.state === 'delivered' && got.length === 0) {
      world.addViolation(`the notice of ${task.id} is called delivered and has not arrived`)
    }
    if (row?.state === 'exhausted' && !receivers.gone.has(row.url)) {
      world.addViolation(`the notice of ${task.id} was given up after ${row.attempts} attempts`)
    }
  }
}
