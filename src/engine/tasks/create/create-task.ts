// Creates a task, from the caller's input to the upstream's acceptance. Row and hold are committed
// before anything is sent; the create is sent once, and an unknown outcome is a state of its own.
//
//   transaction 1: row `accepted` + hold ──> send ──> transaction 2: `queued`, or `failed` + release
//                                                └──> `unknown`: never sent again
import type { CallContext, Created } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import { findTaskRow } from '../../../store/tasks/tasks.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from '../../calls/call-record.ts'
import type { Engine } from '../../engine.ts'
import { endTask } from '../end-task.ts'
import { retryWrite } from '../retry-write.ts'
import { acceptTask, recordTask } from './accept-task.ts'
import { asCreated } from './idempotency.ts'
import { runAdmitted } from './run-admitted.ts'
import { type FinishedReport, refusalFor, sendTask } from './send-task.ts'
import type { TaskInput } from './task-members.ts'

export async function createTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
): Promise<Created | Refusal> {
  const record = newRecord(ctx, input.interface, input.model)
  return runAdmitted(engine, ctx, record, () => createAdmitted(engine, ctx, input, record))
}

export async function createAdmitted(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
  record: RequestRecord,
): Promise<Created | Refusal> {
  const made = await acceptTask(engine, ctx, input, record)
  if (made instanceof Refusal) return made
  if ('replayed' in made) {
    writeRecord(engine, endRecord(engine, record, 'complete', 200))
    return { ...made, task: asCreated(made.task) }
  }
  try {
    const sent = await sendTask(engine, made, input)
    recordTask(record, made.task)
    const result = 'report' in sent ? await endNow(engine, made.task, sent.report) : sent.result
    if (result instanceof Refusal) return recordUnbilled(engine, record, 'failed', result)
    if (sent.upstreamRequestId !== undefined) record.upstreamRequestId = sent.upstreamRequestId
    writeRecord(engine, endRecord(engine, record, 'complete', 200))
    return { task: result, replayed: false }
  } finally {
    engine.creating.delete(made.task.id)
  }
}

/** Its result came with the reply to the create. */
async function endNow(engine: Engine, task: Task, report: FinishedReport): Promise<Task | Refusal> {
  const end = report.state === 'failed' ? { ...report, isAnswer: true } : report
  const ended = await retryWrite(engine, () => endTask(engine, task, end))
  if (report.state === 'failed') return refusalFor(report.error)
  return ended ?? (await findTaskRow(engine.store.read, task.id)) ?? task
}
