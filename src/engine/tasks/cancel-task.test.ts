// Cancelling and deleting: the upstream decides, and the ledger is always exact.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import { storeKinds, until } from '../../store/test-stores.ts'
import { cancelVideo, hideTask } from './cancel-task.ts'
import { advanceTask } from './poll/advance-task.ts'
import { findTask, listVideos } from './read-task.ts'
import {
  anError,
  newTaskEngine,
  says,
  secondNanos,
  succeeded,
  type TaskEngine,
} from './test-task-engine.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: cancelling tasks on PostgreSQL (set TEST_POSTGRES_URL)')
}

const holdNanos = 5n * secondNanos

describe.each([...storeKinds])('cancelling on %s', (on) => {
  let it: TaskEngine
  let task: Task

  beforeEach(async () => {
    it = await newTaskEngine(on)
    const made = await it.create()
    if (made instanceof Refusal) throw new Error(made.message)
    task = made
  })
  afterEach(() => it.close())

  const cancel = (id = task.id) => cancelVideo(it.engine, it.token, id)
  const free = [
    ['hold', -holdNanos],
    ['release', holdNanos],
  ]
  const paid = [...free, ['charge', -holdNanos]]
  const booked = async () => (await it.booked(task.id)) as unknown[][]
  const finish = async () => {
    it.clock.ms += 3600_000
    it.script.check = () => succeeded(5)
    await it.advance()
  }

  test('a queued task ends it for nothing', async () => {
    expect(await cancel()).toMatchObject({ id: task.id, state: 'cancelled', chargeNanos: 0n })
    expect((await it.row(task.id)).state).toBe('cancelled')
    expect(await booked()).toEqual(free)
    await finish()
    expect((await it.row(task.id)).state).toBe('cancelled')
    expect(await booked()).toEqual(free)
  })

  test('it twice asks the upstream once', async () => {
    await cancel()
    expect(await cancel()).toMatchObject({ state: 'cancelled' })
    expect(it.script.cancels).toBe(1)
  })

  test('what the upstream will not cancel is a conflict and goes on', async () => {
    it.script.cancel = () => ({ kind: 'refused', error: anError() })
    expect(await cancel()).toMatchObject({ code: 'task_not_cancellable', status: 409 })
    expect(await it.row(task.id)).toEqual(task)
    await finish()
    expect(await booked()).toEqual(paid)
  })

  test('without an answer leaves the task as it was', async () => {
    it.script.cancel = () => ({ kind: 'failed', error: anError() })
    expect(await cancel()).toMatchObject({ code: 'upstream_error' })
    expect(await it.row(task.id)).toEqual(task)
    expect(await booked()).toEqual([['hold', -holdNanos]])
  })

  test('what is over is a conflict, and the upstream is not asked', async () => {
    await finish()
    expect(await cancel()).toMatchObject({ code: 'task_not_cancellable' })
    expect(it.script.cancels).toBe(0)
    expect(await booked()).toEqual(paid)
  })

  test('what nobody knows the whereabouts of is a conflict', async () => {
    it.script.start = () => ({ kind: 'unknown', error: anError() })
    it.clock.ms++
    await it.create()
    const { id } = (await listVideos(it.engine, it.token, { limit: 1 }))[0]!
    expect(await cancel(id)).toMatchObject({ code: 'task_not_cancellable' })
    expect(it.script.cancels).toBe(0)
  })

  test('the task of another account finds nothing', async () => {
    const other = await it.open('other', 0n)
    for (const id of [task.id, task.upstreamId!, 'video_none']) {
      expect(await cancelVideo(it.engine, other, id)).toMatchObject({ code: 'task_not_found' })
      expect(await hideTask(it.engine, other, id)).toMatchObject({ code: 'task_not_found' })
    }
    expect(it.script.cancels).toBe(0)
  })

  test('while it begins to run still cancels it', async () => {
    const answer = Promise.withResolvers<{ kind: 'cancelled' }>()
    it.script.cancel = () => answer.promise
    const cancelling = cancel()
    await until(() => it.script.cancels === 1)
    it.script.check = () => says({ state: 'running', progress: 20 })
    await it.tick()
    answer.resolve({ kind: 'cancelled' })
    expect(await cancelling).toMatchObject({ state: 'cancelled', progress: 20 })
    expect(await booked()).toEqual(free)
    expect(it.engine.ledger.usable(it.token.accountId)).toBe(true)
  })

  test('while it succeeds is a conflict, and it is charged once', async () => {
    const answer = Promise.withResolvers<{ kind: 'cancelled' }>()
    it.script.cancel = () => answer.promise
    const cancelling = cancel()
    await until(() => it.script.cancels === 1)
    await finish()
    answer.resolve({ kind: 'cancelled' })
    expect(await cancelling).toMatchObject({ code: 'task_not_cancellable' })
    expect((await it.row(task.id)).state).toBe('succeeded')
    expect(await booked()).toEqual(paid)
  })

  test('at the same moment as it succeeds is one or the other, never both', async () => {
    for (let round = 0; round < 20; round++) {
      const made = await it.create()
      if (made instanceof Refusal) throw new Error(made.message)
      it.clock.ms += 3600_000
      const leased = (await it.lease()).find((each) => each.task.id === made.id)!
      it.script.check = () => succeeded(5)
      const both = [() => advanceTask(it.engine, leased), () => cancel(made.id)]
      if (round % 2 === 1) both.reverse()
      const outcomes = await Promise.all(both.map((each) => each()))
      const answer = outcomes[round % 2 === 1 ? 0 : 1]!
      const { state } = await it.row(made.id)
      expect(answer instanceof Refusal ? 'succeeded' : 'cancelled').toBe(state as 'succeeded')
      const expected = state === 'succeeded' ? paid : free
      expect((await it.booked(made.id)) as unknown[][]).toEqual(expected)
    }
  })

  test('is not putting away, which is for what is over and keeps the books', async () => {
    const hide = () => hideTask(it.engine, it.token, task.id)
    expect(await hide()).toMatchObject({ code: 'task_not_cancellable' })
    await finish()
    expect(await hide()).toMatchObject({ hidden: true, state: 'succeeded' })
    expect(await findTask(it.engine, it.token, task.id, 'video')).toBeUndefined()
    expect(await findTask(it.engine, it.token, task.upstreamId!, 'video')).toBeUndefined()
    expect(await listVideos(it.engine, it.token, { limit: 9 })).toEqual([])
    expect(await hide()).toMatchObject({ code: 'task_not_found' })
    expect(await booked()).toEqual(paid)
  })
})
