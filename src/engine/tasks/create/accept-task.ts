// The first half of every create: its idempotency key, its admission, and row and hold on disk. A
// repeated create gets the first one's answer instead.
import type { CallContext, Created } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { recordUnbilled } from '../../calls/call-record.ts'
import type { Engine } from '../../engine.ts'
import { admitTask } from './admit-task.ts'
import { type Accepted, holdTask } from './hold-task.ts'
import {
  claimKey,
  findFirst,
  type KeyedCreate,
  keyedCreate,
  releaseKey,
  replayedIn,
} from './idempotency.ts'
import type { TaskInput } from './task-members.ts'

interface Acceptance {
  /** Until then only the caller's connection waits for it. */
  waitedForMs?: number
  /** What else the answer depends on. */
  asked?: object
}

/** Durable when this resolves. A refusal is recorded. */
export async function acceptTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
  record: RequestRecord,
  { waitedForMs, asked }: Acceptance = {},
): Promise<Accepted | Created | Refusal> {
  const hold = async (keyed: KeyedCreate | undefined) => {
    const admitted = await admitTask(engine, ctx, input)
    if (admitted instanceof Refusal) return admitted
    return holdTask(engine, ctx, admitted, { keyed, waitedForMs })
  }
  return acceptWith(engine, ctx, input, record, hold, asked)
}

/** The same for a task that is held in its own way. */
export async function acceptWith<Held extends { task: Task }>(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
  record: RequestRecord,
  hold: (keyed: KeyedCreate | undefined) => Promise<Held | Refusal>,
  asked?: object,
): Promise<Held | Created | Refusal> {
  const keyed = await keyedCreate(ctx.token, input, asked)
  const made = await acceptOnce(engine, keyed, hold)
  const replayOf = replayedIn(made)
  if (replayOf !== undefined) record.detail.replayOf = replayOf
  if (made instanceof Refusal) return recordUnbilled(engine, record, 'refused', made)
  if ('replayed' in made) return made
  crashPoint('task-accepted')
  recordTask(record, made.task)
  return made
}

/** Which task a request has made, where, and by which model. */
export function recordTask(
  record: RequestRecord,
  { id, channel, priceId, servedModel }: Task,
): void {
  record.detail.taskId = id
  if (channel !== '') record.channel = channel
  record.priceId = priceId
  if (servedModel !== undefined) record.detail.servedModel = servedModel
}

async function acceptOnce<Held extends object>(
  engine: Engine,
  keyed: KeyedCreate | undefined,
  hold: (keyed: KeyedCreate | undefined) => Promise<Held | Refusal>,
): Promise<Held | Created | Refusal> {
  const first = await claimKey(engine, keyed)
  if (first !== undefined) return first
  try {
    const held = await hold(keyed)
    if (!(held instanceof Refusal)) return held
    // Another gateway was faster under this key: the missing balance may be what that one holds.
    return (await findFirst(engine, keyed)) ?? held
  } finally {
    releaseKey(engine, keyed)
  }
}
