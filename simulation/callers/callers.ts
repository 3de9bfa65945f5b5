// The callers of a world: what they request and how they check what they get. A caller without a reply
// repeats its request under its Idempotency-Key, and never without one.
import type { CallContext } from '../../src/contract/caller-api.ts'
import { Refusal } from '../../src/contract/errors.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { makeImages } from '../../src/engine/results/images/make-images.ts'
import { cancelVideo } from '../../src/engine/tasks/cancel-task.ts'
import { createTask } from '../../src/engine/tasks/create/create-task.ts'
import type { TaskInput } from '../../src/engine/tasks/create/task-members.ts'
import { findTask } from '../../src/engine/tasks/read-task.ts'
import { models } from '../world/settings.ts'
import { cancelBackground, createBackground, isBackground, readBackground } from './background.ts'
import { type Calling, checkRefused } from './calling.ts'
import type { Answer, Input } from './records.ts'
import { type Sent, sendCall, tokenOf } from './send-call.ts'
import { callText } from './text-caller.ts'

const maxTries = 6
const ends = ['succeeded', 'failed', 'cancelled']
/** Refusals after which a caller with a key tries again. */
const passing = ['idempotency_in_flight', 'overloaded', 'no_available_channel']

/** Until the result is there, or the caller gives up. */
export async function follow(calling: Calling, input: Input): Promise<void> {
  const { context, records, callers } = calling
  const { random, world } = context
  records.waiting++
  try {
    if (input.kind === 'text') {
      await callText(calling, input)
      return
    }
    // Sometimes the same request is sent several times at once.
    const times = input.key !== undefined && random.work.chance(0.2) ? random.work.whole(2, 3) : 1
    await Promise.all(Array.from({ length: times }, () => create(calling, input)))
    const made = input.answers.find((answer) => answer.kind === 'task')
    if (made === undefined || input.kind === 'image') return
    const isCancelled = random.work.chance(context.profile.cancels)
    const isWatched = random.work.chance(0.4)
    await world.pause(random.work.between(0, 6_000), callers)
    if (isCancelled) await callOff(calling, input, made.taskId)
    if (isWatched) await watch(calling, input, made.taskId)
  } finally {
    records.waiting--
  }
}

async function create(calling: Calling, input: Input): Promise<void> {
  const { context, callers } = calling
  const { world, random } = context
  for (let tries = 1; ; tries++) {
    let requestId = ''
    const sent = await sendCall(
      calling,
      input.accountId,
      (engine, ctx) => createAt(calling, engine, ctx, input),
      (id) => {
        requestId = id
        input.requestIds.push(id)
      },
    )
    const answer = answerOf(sent, requestId)
    input.answers.push(answer)
    world.note(`input ${input.number} (${input.prompt}): ${JSON.stringify(answer)}`, callers)
    if (answer.kind === 'task') checkAnswered(calling, input, answer)
    if (answer.kind === 'refused') checkRefused(calling, input, answer)
    const isOpen =
      answer.kind === 'lost' || (answer.kind === 'refused' && passing.includes(answer.code))
    if (!isOpen || input.key === undefined || tries >= maxTries) return
    await world.pause(random.work.between(100, 4_000) * tries, callers)
  }
}

type Made = { taskId: string; replayed: boolean } | Refusal

async function createAt(
  { context, records }: Calling,
  engine: Engine,
  ctx: CallContext,
  input: Input,
): Promise<Made> {
  if (input.kind === 'response' || input.kind === 'ownResponse') {
    return createBackground(engine, ctx, input)
  }
  const order = orderOf(input)
  if (order.kind === 'image' && input.kind === 'image') {
    const made = await makeImages(
      engine,
      ctx,
      { ...order, wantsBytes: input.wantsBytes },
      async (_, task, media) => {
        const { world, random, faults } = context
        await world.pause(random.wire.between(10, 500), world.current)
        const bytes = media.map(() =>
          random.wire.chance(faults.wire.brokenOff) ? undefined : 'AA==',
        )
        const count = bytes.filter((each) => each !== undefined).length
        records.fetched.set(task.id, [...(records.fetched.get(task.id) ?? []), count])
        return bytes
      },
    )
    return made instanceof Refusal ? made : { taskId: made.task.id, replayed: made.replayed }
  }
  const made = await createTask(engine, ctx, order)
  return made instanceof Refusal ? made : { taskId: made.task.id, replayed: made.replayed }
}

function orderOf(input: Input): TaskInput {
  const { prompt, count, seconds, resolution, key, callbackUrl } = input
  const more = {
    ...(key !== undefined && { key: { path: input.kind, key } }),
    ...(callbackUrl !== undefined && { callbackUrl }),
  }
  if (input.kind === 'imageTask' || input.kind === 'image') {
    return {
      interface: input.kind === 'imageTask' ? 'imgvendor' : 'images',
      kind: 'image',
      model: models[input.kind],
      request: { prompt, count, media: [], isEdit: false },
      ...more,
    }
  }
  return {
    interface: 'videos',
    kind: 'video',
    model: input.kind === 'video' ? models.video : models.tokenVideo,
    request: { prompt, seconds, resolution, media: [] },
    ...more,
  }
}

function answerOf(sent: Sent<Made>, requestId: string): Answer {
  if (sent === 'lost') return { kind: 'lost', requestId }
  const { answer } = sent
  if (answer instanceof Refusal) return { kind: 'refused', requestId, code: answer.code }
  return { kind: 'task', requestId, ...answer }
}

/** A task that a caller got exists, under the request that created it. */
function checkAnswered(
  { context }: Calling,
  input: Input,
  answer: Answer & { kind: 'task' },
): void {
  const { db, world } = context
  const [row] = db.query<{ request_id: string; account_id: string }>(
    'SELECT request_id, account_id FROM tasks WHERE id = ?',
    [answer.taskId],
  ).rows
  if (row === undefined) {
    world.addViolation(`task ${answer.taskId} was answered and is not there`)
    return
  }
  if (row.account_id !== input.accountId)
    world.addViolation(`task ${answer.taskId} is another account's`)
  const isRight = answer.replayed
    ? input.requestIds.includes(row.request_id)
    : row.request_id === answer.requestId
  if (!isRight) world.addViolation(`task ${answer.taskId} goes by request ${row.request_id}`)
}

async function callOff(calling: Calling, input: Input, taskId: string): Promise<void> {
  if (input.kind === 'image' || input.kind === 'imageTask') return
  const { context, records, callers } = calling
  const sent = await sendCall(calling, input.accountId, (engine) =>
    isBackground(input)
      ? cancelBackground(engine, input, taskId)
      : cancelVideo(engine, tokenOf(input.accountId), taskId),
  )
  const outcome =
    sent === 'lost' ? sent : sent.answer instanceof Refusal ? sent.answer.code : sent.answer.state
  context.world.note(`cancel of ${taskId}: ${outcome}`, callers)
  if (outcome !== 'cancelled') return
  records.cancelled.add(taskId)
  see(calling, taskId, 'cancelled')
}

async function watch(calling: Calling, input: Input, taskId: string): Promise<void> {
  const { context, callers } = calling
  const { world, random } = context
  const kind = input.kind === 'imageTask' ? 'image' : 'video'
  for (let polls = 0; polls < 12; polls++) {
    await world.pause(random.work.between(200, 8_000), callers)
    const sent = await sendCall(calling, input.accountId, (engine) =>
      isBackground(input)
        ? readBackground(engine, input, taskId)
        : findTask(engine, tokenOf(input.accountId), taskId, kind),
    )
    if (sent === 'lost') continue
    if (sent.answer === undefined) return world.addViolation(`task ${taskId} is not to be found`)
    const { state, chargeNanos } = sent.answer
    see(calling, taskId, state)
    if (state !== 'succeeded' && chargeNanos !== 0n)
      world.addViolation(`task ${taskId} costs before its end`)
    if (ends.includes(state)) return
  }
}

/** The first end that any caller has seen never changes. */
function see({ records, context }: Calling, taskId: string, state: string): void {
  const before = records.seenEnds.get(taskId)
  if (before !== undefined && before !== state) {
    context.world.addViolation(`task ${taskId} was shown as ${before}, then as ${state}`)
  }
  if (ends.includes(state)) records.seenEnds.set(taskId, state)
}
