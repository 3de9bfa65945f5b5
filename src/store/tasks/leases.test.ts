// What the store promises about leases, on every engine there is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Task, type TaskState, taskStates } from '../../contract/task.ts'
import type { Store } from '../index.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import {
  freeLeases,
  type LeaseOptions,
  leaseDueTasks,
  nextDueMs,
  recentDurations,
  releaseLeases,
  releaseStrays,
  renewLeases,
  sharedClockMs,
} from './leases.ts'
import { savePolls } from './poll-updates.ts'
import { findTaskRow, insertTask, updateTask } from './tasks.ts'
import { aTask } from './test-tasks.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: leases on PostgreSQL (set TEST_POSTGRES_URL)')
}

const idsOf = (tasks: readonly Task[]) => tasks.map(({ id }) => id)

describe.each([...storeKinds])('tasks on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeEach(async () => {
    place = await newPlace(dialect)
    store = await place.open()
  })

  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const insert = async (...tasks: Task[]) => {
    await store.tx(async (tx) => {
      for (const task of tasks) await insertTask(tx, task)
    })
    return tasks
  }
  const update = (task: Task, still: TaskState, fence?: number) =>
    store.tx((tx) => updateTask(tx, task, still, fence))
  const input = (nowMs: number, more: Partial<LeaseOptions> = {}) =>
    store.tx((tx) =>
      leaseDueTasks(tx, dialect, {
        owner: 'one',
        nowMs,
        untilMs: nowMs + 30_000,
        limit: 100,
        ...more,
      }),
    )
  const lease = async (nowMs: number, more: Partial<LeaseOptions> = {}) =>
    (await input(nowMs, more)).leased
  const find = (id: string) => findTaskRow(store.read, id)

  test('are leased when they live and are due, the longest due first', async () => {
    const live: TaskState[] = ['accepted', 'unknown', 'queued', 'running']
    const tasks = await insert(
      ...taskStates.map((state, i) => aTask({ state, nextCheckAtMs: 2_000 - i })),
      aTask({ nextCheckAtMs: 5_001 }),
    )
    const due = tasks.filter(
      ({ state, nextCheckAtMs }) => live.includes(state) && nextCheckAtMs < 5_000,
    )
    const got = await lease(5_000)
    expect(idsOf(got.map(({ task }) => task))).toEqual(idsOf(due.toReversed()))
    expect(got.map(({ task }) => task)).toEqual(due.toReversed())
  })

  test('are leased a bounded number at a time', async () => {
    await insert(...[3, 1, 2].map((nextCheckAtMs) => aTask({ nextCheckAtMs })))
    const first = await lease(5_000, { limit: 2 })
    expect(first.map(({ task }) => task.nextCheckAtMs)).toEqual([1, 2])
    expect((await lease(5_000)).map(({ task }) => task.nextCheckAtMs)).toEqual([3])
  })

  test('belong to nobody else until the lease ends', async () => {
    const [task] = await insert(aTask())
    expect(await lease(5_000, { untilMs: 9_000 })).toHaveLength(1)
    expect(await lease(5_000, { owner: 'two' })).toEqual([])
    expect(await lease(8_999, { owner: 'two' })).toEqual([])
    const again = await lease(9_000, { owner: 'two' })
    expect(again.map((leased) => [leased.task.id, leased.fence])).toEqual([[task!.id, 2]])
  })

  test('go to one of many who ask at once', async () => {
    const tasks = await insert(...Array.from({ length: 20 }, () => aTask()))
    const shares = await Promise.all(
      Array.from({ length: 8 }, (_, i) => lease(5_000, { owner: `o${i}`, limit: 7 })),
    )
    const got = shares.flat().map(({ task }) => task.id)
    expect(new Set(got).size).toBe(got.length)
    const rest = await lease(5_000)
    expect([...got, ...rest.map(({ task }) => task.id)].toSorted()).toEqual(idsOf(tasks).toSorted())
  })

  test('listen to their last owner only', async () => {
    const [task] = await insert(aTask())
    const [old] = await lease(5_000, { untilMs: 6_000 })
    const [young] = await lease(7_000, { owner: 'two' })
    expect(await update({ ...task!, progress: 10 }, 'queued', old!.fence)).toBe(false)
    expect(await update({ ...task!, progress: 20 }, 'queued', young!.fence)).toBe(true)
    expect((await find(task!.id))!.progress).toBe(20)
  })

  test('are free again once their owner has written', async () => {
    const [task] = await insert(aTask())
    const [leased] = await lease(5_000)
    await update({ ...task!, nextCheckAtMs: 5_500 }, 'queued', leased!.fence)
    expect(await lease(5_499)).toEqual([])
    expect(await lease(5_500, { owner: 'two' })).toHaveLength(1)
  })

  test('say when the next live one is due', async () => {
    expect(await nextDueMs(store.read, Number.MAX_SAFE_INTEGER)).toBeUndefined()
    await insert(aTask({ state: 'failed', nextCheckAtMs: 1 }))
    expect(await nextDueMs(store.read, Number.MAX_SAFE_INTEGER)).toBeUndefined()
    await insert(aTask({ nextCheckAtMs: 8 }), aTask({ state: 'unknown', nextCheckAtMs: 7 }))
    expect(await nextDueMs(store.read, Number.MAX_SAFE_INTEGER)).toBe(7)
  })

  test('of another account get their turn while one has far more due than can be taken', async () => {
    const many = Array.from({ length: 600 }, () => aTask({ accountId: 'acc_9', nextCheckAtMs: 1 }))
    const [single] = await insert(aTask({ nextCheckAtMs: 4_000 }), ...many)
    const { leased, more } = await input(5_000, { limit: 8 })
    expect(leased).toHaveLength(8)
    expect(leased.map(({ task }) => task.id)).toContain(single!.id)
    expect(more).toBe(true)
  })

  test('of a channel without room do not keep those of others waiting', async () => {
    const many = Array.from({ length: 600 }, () => aTask({ channelId: 'ch_1', nextCheckAtMs: 1 }))
    const [other] = await insert(aTask({ channelId: 'ch_2', nextCheckAtMs: 4_000 }), ...many)
    const roomFor = (channelId: string) => (channelId === 'ch_1' ? 3 : 10)
    const first = await lease(5_000, { limit: 20, roomFor })
    expect(first.map(({ task }) => task.channelId).toSorted()).toEqual([
      'ch_1',
      'ch_1',
      'ch_1',
      'ch_2',
    ])
    expect(first.map(({ task }) => task.id)).toContain(other!.id)
  })

  test('are gone through account by account, however many there are', async () => {
    const accounts = Array.from({ length: 300 }, (_, i) => `acc_${String(i).padStart(3, '0')}`)
    await insert(
      ...accounts.flatMap((accountId) => [
        aTask({ accountId, nextCheckAtMs: 1 }),
        aTask({ accountId, nextCheckAtMs: 9_000 }),
      ]),
    )
    const first = await input(5_000, { limit: 10 })
    expect(first.next).toEqual({ channelId: 'ch_1', accountId: 'acc_063' })
    const second = await input(5_000, { limit: 10, after: first.next! })
    expect(second.next).toEqual({ channelId: 'ch_1', accountId: 'acc_127' })
    const served = second.leased.map(({ task }) => task.accountId)
    expect(served).toHaveLength(10)
    const inTurn = served.filter((accountId) => accountId > 'acc_063' && accountId < 'acc_128')
    expect(inTurn.length).toBeGreaterThanOrEqual(5)
  })

  test('stay with whoever renews in time, and only with the last owner', async () => {
    const [a, b] = await insert(aTask(), aTask({ nextCheckAtMs: 1_999 }))
    await lease(5_000, { untilMs: 6_000, limit: 1 })
    const held = [
      { id: a!.id, fence: 1 },
      { id: b!.id, fence: 1 },
    ]
    const renew = (owner: string, untilMs: number) =>
      store.tx((tx) => renewLeases(tx, dialect, owner, held, untilMs))
    expect(await renew('one', 20_000)).toEqual(new Set([b!.id]))
    expect(await renew('two', 99_000)).toEqual(new Set())
    expect((await lease(19_999, { owner: 'two' })).map(({ task }) => task.id)).toEqual([a!.id])
    const [taken] = await lease(20_000, { owner: 'two' })
    expect([taken!.task.id, taken!.fence]).toEqual([b!.id, 2])
    expect(await renew('one', 99_000)).toEqual(new Set())
  })

  test('are free at once when their owner lets go, and not before', async () => {
    const [task] = await insert(aTask())
    await lease(5_000)
    const release = (owner: string, fence: number) =>
      store.tx((tx) => releaseLeases(tx, dialect, owner, [{ id: task!.id, fence }]))
    await release('two', 1)
    await release('one', 0)
    expect(await lease(5_000, { owner: 'two' })).toEqual([])
    await release('one', 1)
    expect(await lease(5_000, { owner: 'two' })).toHaveLength(1)
  })

  test('are free when whoever had them is known to be gone', async () => {
    await insert(aTask(), aTask())
    await lease(3_000, { owner: 'dead', limit: 1 })
    await lease(3_000, { owner: 'alive' })
    await store.tx((tx) => freeLeases(tx, 'dead'))
    expect(await lease(3_001)).toHaveLength(1)
    await store.tx((tx) => freeLeases(tx))
    expect(await lease(3_002)).toHaveLength(2)
  })

  test('take many looks at once, each by its own fence and state', async () => {
    const [good, moved, lost] = await insert(aTask(), aTask(), aTask())
    const all = await lease(5_000, { untilMs: 6_000 })
    expect(all).toHaveLength(3)
    await update({ ...moved!, state: 'failed' }, 'queued')
    await store.tx((tx) => releaseLeases(tx, dialect, 'one', [{ id: lost!.id, fence: 1 }]))
    await lease(5_000, { owner: 'two' })
    const seen = (task: Task): Task => ({
      ...task,
      state: 'running',
      progress: 40,
      startedAtMs: 5_100,
      updatedAtMs: 5_200,
      nextCheckAtMs: 7_000,
      checks: 3,
      misses: 2,
    })
    const polls = [good!, moved!, lost!].map((task) => ({
      task: seen(task),
      before: task,
      still: 'queued' as const,
      fence: 1,
    }))
    const written = await store.tx((tx) => savePolls(tx, dialect, polls))
    expect(written).toEqual(new Set([good!.id]))
    expect(await find(good!.id)).toEqual(seen(good!))
    expect((await find(moved!.id))!.state).toBe('failed')
    expect(await find(lost!.id)).toEqual(lost!)
    expect(await lease(7_000, { owner: 'two' })).toHaveLength(1)
  })

  test('bring the timeline along, and take what a look adds to it', async () => {
    const [task, bare] = await insert(
      aTask({ timeline: 'one\n' }),
      aTask({ timeline: 'two\n', nextCheckAtMs: 2_001 }),
    )
    const leased = await lease(5_000)
    expect(leased.map(({ task: { timeline } }) => timeline)).toEqual(['one\n', 'two\n'])
    const quote = 'one\n"quoted" \\ 中文 😀\n'
    const { timeline: _, ...without } = bare!
    const polls = [{ ...task!, timeline: quote }, without as Task].map((seen) => ({
      task: seen,
      before: leased.find((each) => each.task.id === seen.id)!.task,
      still: 'queued' as const,
      fence: 1,
    }))
    await store.tx((tx) => savePolls(tx, dialect, polls))
    expect((await find(task!.id))!.timeline).toBe(quote)
    expect((await find(bare!.id))!.timeline).toBe('two\n')
  })

  test('that their owner does not hold are freed, and nobody else is touched', async () => {
    const [held, stray, other, ended] = await insert(
      ...[1, 2, 3, 4].map((nextCheckAtMs) => aTask({ nextCheckAtMs })),
    )
    const theirs = (await lease(5_000, { owner: 'two', limit: 1 }))[0]!.task
    expect(theirs.id).toBe(held!.id)
    await lease(5_000, { owner: 'one' })
    await update({ ...ended!, state: 'failed' }, 'queued')
    await store.tx((tx) => releaseStrays(tx, dialect, 'one', [stray!.id]))
    const again = await lease(5_000, { owner: 'three' })
    expect(idsOf(again.map(({ task }) => task))).toEqual([other!.id])
    await store.tx((tx) => releaseStrays(tx, dialect, 'one', []))
    const more = await lease(5_000, { owner: 'three' })
    expect(idsOf(more.map(({ task }) => task))).toEqual([stray!.id])
  })

  test('keep what a look did not change', async () => {
    const [task] = await insert(aTask({ upstreamId: 'up-1', startedAtMs: 1_100 }))
    const [leased] = await lease(5_000)
    const later: Task = { ...leased!.task, nextCheckAtMs: 8_000 }
    const poll = { task: later, before: leased!.task, still: 'queued' as const, fence: 1 }
    expect(await store.tx((tx) => savePolls(tx, dialect, [poll]))).toEqual(new Set([task!.id]))
    expect(await find(task!.id)).toEqual({ ...task!, nextCheckAtMs: 8_000 })
  })

  test('tell how long the newest of them took', async () => {
    const ended = (model: string, finishedAtMs: number, state: TaskState = 'succeeded') =>
      aTask({ model, state, createdAtMs: 1_000, finishedAtMs })
    await insert(
      ended('old', 2_000),
      ended('a', 31_000),
      ended('a', 9_000, 'failed'),
      aTask({ model: 'a' }),
      ended('b', 4_000),
    )
    expect(await recentDurations(store.read, 4)).toEqual([
      { model: 'a', tookMs: 30_000 },
      { model: 'b', tookMs: 3_000 },
    ])
  })

  test('are leased by the clock of the store, where gateways share one', async () => {
    const clockMs = await sharedClockMs(store.read, dialect)
    expect(typeof clockMs).toBe(dialect === 'sqlite' ? 'undefined' : 'number')
    await insert(aTask({ nextCheckAtMs: 50 }))
    // Due by one clock, free by the other.
    const clocks = { leaseClockMs: 9_000, untilMs: 9_500 }
    expect(await lease(49, clocks)).toEqual([])
    expect(await lease(50, clocks)).toHaveLength(1)
    expect(await lease(99_000, { leaseClockMs: 9_499 })).toEqual([])
    expect(await lease(50, { leaseClockMs: 9_500 })).toHaveLength(1)
  })
})
