// The callers of a world: what they want, how they ask for it, and what they hold against whoever
// answers. A caller that got no answer asks again under its key, and never without one.
import type { CallContext } from '../../src/contract/caller-api.ts'
import { Refusal } from '../../src/contract/errors.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { makeImages } from '../../src/engine/results/images/make-images.ts'
import { cancelVideo } from '../../src/engine/tasks/cancel-task.ts'
import type { TaskInput } from '../../src/engine/tasks/create/accept-task.ts'
import { createTask } from '../../src/engine/tasks/create/create-task.ts'
import { findTask } from '../../src/engine/tasks/read-task.ts'
import type { Plenty } from '../verify/solvent-accounts.ts'
import { models } from '../world/settings.ts'
import type { Answer, CallersBooks, Input } from './records.ts'
import { type Asked, type Asking, ask, tokenOf } from './send-call.ts'
import { askForText } from './text-caller.ts'

const maxTries = 6
const ends = ['succeeded', 'failed', 'cancelled']
/** Refusals after which a caller with a key tries again. */
const passing = ['idempotency_in_flight', 'overloaded', 'no_available_channel']

export interface Calling extends Asking {
  books: CallersBooks
  plenty: Plenty
}

/** Gets it, or gives up. */
export async function pursue(calling: Calling, input: Input): Promise<void> {
  const { stage, books, callers } = calling
  const { random, world } = stage
  books.waiting++
  try {
    if (input.kind === 'text') {
      await askForText(calling, input)
      return
    }
    // Now and then the same is asked several times at once.
    const times = input.key !== undefined && random.work.chance(0.2) ? random.work.whole(2, 3) : 1
    await Promise.all(Array.from({ length: times }, () => create(calling, input)))
    const made = input.answers.find((answer) => answer.kind === 'task')
    if (made === undefined || input.kind === 'picture') return
    const isCancelled = random.work.chance(stage.manners.cancels)
    const isWatched = random.work.chance(0.4)
    await world.pause(random.work.between(0, 6_000), callers)
    if (isCancelled) await callOff(calling, input, made.taskId)
    if (isWatched) await watch(calling, input, made.taskId)
  } finally {
    books.waiting--
  }
}

async function create(calling: Calling, input: Input): Promise<void> {
  const { stage, callers } = calling
  const { world, random } = stage
  for (let tries = 1; ; tries++) {
    let requestId = ''
    const asked = await ask(
      calling,
      input.accountId,
      (engine, ctx) => createAt(calling, engine, ctx, input),
      (id) => {
        requestId = id
        input.requestIds.push(id)
      },
    )
    const answer = answerOf(asked, requestId)
    input.answers.push(answer)
    world.note(`wish ${input.number} (${input.prompt}): ${JSON.stringify(answer)}`, callers)
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
  { stage, books }: Calling,
  engine: Engine,
  ctx: CallContext,
  input: Input,
): Promise<Made> {
  const order = orderOf(input)
  if (order.kind === 'image' && input.kind === 'picture') {
    const made = await makeImages(
      engine,
      ctx,
      { ...order, wantsBytes: input.wantsBytes },
      async (_, task, media) => {
        const { world, random, faults } = stage
        await world.pause(random.wire.between(10, 500), world.current)
        const bytes = media.map(() =>
          random.wire.chance(faults.wire.brokenOff) ? undefined : new Uint8Array(1),
        )
        const count = bytes.filter((each) => each !== undefined).length
        books.fetched.set(task.id, [...(books.fetched.get(task.id) ?? []), count])
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
  if (input.kind === 'drawing' || input.kind === 'picture') {
    return {
      interface: input.kind === 'drawing' ? 'imgvendor' : 'images',
      kind: 'image',
      model: models[input.kind],
      request: { prompt, count, media: [], isEdit: false },
      ...more,
    }
  }
  return {
    interface: 'videos',
    kind: 'video',
    model: input.kind === 'film' ? models.film : models.tokenFilm,
    request: { prompt, seconds, resolution, media: [] },
    ...more,
  }
}

function answerOf(asked: Asked<Made>, requestId: string): Answer {
  if (asked === 'lost') return { kind: 'lost', requestId }
  const { answer } = asked
  if (answer instanceof Refusal) return { kind: 'refused', requestId, code: answer.code }
  return { kind: 'task', requestId, ...answer }
}

/** A task that a caller was told of is there, under the request it was made by. */
function checkAnswered({ stage }: Calling, input: Input, answer: Answer & { kind: 'task' }): void {
  const { db, world } = stage
  const [row] = db.query<{ request_id: string; account_id: string }>(
    'SELECT request_id, account_id FROM tasks WHERE id = ?',
    [answer.taskId],
  ).rows
  if (row === undefined) {
    world.blame(`task ${answer.taskId} was answered and is not there`)
    return
  }
  if (row.account_id !== input.accountId) world.blame(`task ${answer.taskId} is another account's`)
  const isRight = answer.replayed
    ? input.requestIds.includes(row.request_id)
    : row.request_id === answer.requestId
  if (!isRight) world.blame(`task ${answer.taskId} goes by request ${row.request_id}`)
}

/** Only an account that is short is told so. */
export function checkRefused(
  { stage, plenty }: Calling,
  input: Input,
  { code, requestId }: Answer & { kind: 'refused' },
): void {
  const what = input.kind === 'text' ? 'text' : 'task'
  if (code !== 'insufficient_quota' || !plenty.has(input.accountId, what)) return
  stage.world.blame(`${requestId} was refused for want of money, which ${input.accountId} has`)
}

async function callOff(calling: Calling, input: Input, taskId: string): Promise<void> {
  if (input.kind !== 'film' && input.kind !== 'tokenFilm') return
  const { stage, books, callers } = calling
  const asked = await ask(calling, input.accountId, (engine) =>
    cancelVideo(engine, tokenOf(input.accountId), taskId),
  )
  const outcome =
    asked === 'lost' ? asked : asked.answer instanceof Refusal ? asked.answer.code : 'cancelled'
  stage.world.note(`cancel of ${taskId}: ${outcome}`, callers)
  if (outcome !== 'cancelled') return
  books.cancelled.add(taskId)
  see(calling, taskId, 'cancelled')
}

async function watch(calling: Calling, input: Input, taskId: string): Promise<void> {
  const { stage, callers } = calling
  const { world, random } = stage
  const kind = input.kind === 'drawing' ? 'image' : 'video'
  for (let polls = 0; polls < 12; polls++) {
    await world.pause(random.work.between(200, 8_000), callers)
    const asked = await ask(calling, input.accountId, (engine) =>
      findTask(engine, tokenOf(input.accountId), taskId, kind),
    )
    if (asked === 'lost') continue
    if (asked.answer === undefined) return world.blame(`task ${taskId} is not to be found`)
    const { state, chargeNanos } = asked.answer
    see(calling, taskId, state)
    if (state !== 'succeeded' && chargeNanos !== 0n)
      world.blame(`task ${taskId} costs before its end`)
    if (ends.includes(state)) return
  }
}

/** The first end that anybody has seen is the end for ever. */
function see({ books, stage }: Calling, taskId: string, state: string): void {
  const before = books.seenEnds.get(taskId)
  if (before !== undefined && before !== state) {
    stage.world.blame(`task ${taskId} was shown as ${before}, then as ${state}`)
  }
  if (ends.includes(state)) books.seenEnds.set(taskId, state)
}
