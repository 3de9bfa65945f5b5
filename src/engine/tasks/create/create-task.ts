// Creates a task, from the caller's input to the upstream's acceptance. Row and hold are committed
// before anything is sent; the create is sent once, and an unknown outcome is a state of its own.
//
//   transaction 1: row `accepted` + hold ──> send ──> transaction 2: `queued`, or `failed` + release
//                                                └──> `unknown`: never sent again
import type { CallContext, Created } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { findTaskRow } from '../../../store/tasks/tasks.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from '../../calls/call-record.ts'
import type { Engine } from '../../engine.ts'
import { endTask } from '../end-task.ts'
import { retryWrite } from '../retry-write.ts'
import { acceptTask, type TaskInput } from './accept-task.ts'
import { asCreated, createOnce, keyedCreate, replayedIn } from './repeat-create.ts'
import { runAdmitted } from './run-admitted.ts'
import { type FinishedReport, refusalFor, sendTask } from './send-task.ts'

export async function createTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
): Promise<Created | Refusal> {
  const record = newRecord(ctx, input.interface, input.model)
  return runAdmitted(engine, ctx, record, () => createAdmitted(engine, ctx, input, record))
}

async function createAdmitted(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
  record: RequestRecord,
): Promise<Created | Refusal> {
  const keyed = await keyedCreate(ctx.token, input)
  const made = await createOnce(engine, keyed, () => acceptTask(engine, ctx, input, keyed))
  const replayOf = replayedIn(made)
  if (replayOf !== undefined) record.detail.replayOf = replayOf
  if (made instanceof Refusal) return recordUnbilled(engine, record, 'refused', made)
  if ('replayed' in made) {
    writeRecord(engine, endRecord(engine, record, 'complete', 200))
    return { ...made, task: asCreated(made.task) }
  }
  crashPoint('task-accepted')
  record.detail.taskId = made.task.id
  record.channel = made.task.channel
  record.priceId = made.task.priceId
  const { result, upstreamRequestId } = await sendTask(engine, made, input, {
    finish: (task, report) => finishAtOnce(engine, task, report),
    isWaitedFor: false,
  }).finally(() => engine.creating.delete(made.task.id))
  if (result instanceof Refusal) return recordUnbilled(engine, record, 'failed', result)
  if (upstreamRequestId !== undefined) record.upstreamRequestId = upstreamRequestId
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  return { task: result, replayed: false }
}

async function finishAtOnce(
  engine: Engine,
  task: Task,
  report: FinishedReport,
): Promise<Task | Refusal> {
  const end = report.state === 'failed' ? { ...report, isAnswer: true } : report
  const ended = await retryWrite(engine, () => endTask(engine, task, end))
  if (report.state === 'failed') return refusalFor(report.error)
  return ended ?? (await findTaskRow(engine.store.read, task.id)) ?? task
}
