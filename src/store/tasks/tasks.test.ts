// What the store promises about tasks, on every engine there is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Task, TaskState } from '../../contract/task.ts'
import type { Store } from '../index.ts'
import { failureOf, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { listCallerTasks } from './caller-tasks.ts'
import { listTaskRows } from './list-tasks.ts'
import { findTaskRow, insertTask, putTimeline, updateTask } from './tasks.ts'
import { aTask } from './test-tasks.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: task rows on PostgreSQL (set TEST_POSTGRES_URL)')
}

const full = (): Task =>
  aTask({
    upstreamId: 'up-full',
    state: 'succeeded',
    progress: 100,
    request: {
      prompt: 'a "cat" \u{1F408}',
      seconds: 4.5,
      resolution: '1080p',
      ratio: '16:9',
      seed: 7,
      media: [{ kind: 'image', url: 'https://example.com/a.png' }],
    },
    chargeNanos: 9_007_199_254_740_993n,
    holdNanos: 9_007_199_254_740_995n,
    media: [{ kind: 'video', url: 'https://example.com/v.mp4', expiresAtMs: 99 }],
    usage: { outputSeconds: 4.5, videoTokens: 3 },
    reported: { duration: '4.5' },
    error: { code: 'upstream_error', message: 'no' },
    startedAtMs: 1_500,
    finishedAtMs: 3_000,
    checks: 3,
    misses: 2,
    hidden: true,
  })

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
    for (const task of tasks) await store.tx((tx) => insertTask(tx, task))
    return tasks
  }
  const update = (task: Task, still: TaskState, fence?: number) =>
    store.tx((tx) => updateTask(tx, task, still, fence))
  const find = (id: string, account?: string) => findTaskRow(store.read, id, account)

  test('come back as they were given, bare or full', async () => {
    const tasks = await insert(aTask(), full())
    for (const task of tasks) expect(await find(task.id)).toEqual(task)
  })

  test('are sorted by what they cost and by how long they took, each listed once', async () => {
    const all = await insert(
      ...Array.from({ length: 30 }, (_, i) =>
        aTask({
          ...{ createdAtMs: 1_000 + i, chargeNanos: BigInt(i % 4) * 1_000_000_000n },
          ...(i % 3 > 0 && { finishedAtMs: 2_000 + i + 7 * (i % 5) }),
        }),
      ),
    )
    const figures = {
      time: ({ createdAtMs }: Task) => createdAtMs,
      charge: ({ chargeNanos }: Task) => Number(chargeNanos),
      duration: (task: Task) =>
        task.finishedAtMs === undefined ? -1 : task.finishedAtMs - task.createdAtMs,
    }
    for (const sort of ['time', 'charge', 'duration'] as const) {
      for (const isRising of [false, true]) {
        const found: Task[] = []
        let cursor: string | undefined
        do {
          const page = await listTaskRows(store.read, { limit: 7, cursor, sort, isRising })
          found.push(...page.items)
          cursor = page.nextCursor
        } while (cursor !== undefined)
        const sorted = all.map(figures[sort]).sort((a, b) => (isRising ? a - b : b - a))
        expect(found.map(figures[sort])).toEqual(sorted)
        expect(new Set(idsOf(found)).size).toBe(all.length)
      }
    }
  })

  test('are found by either id, and by their own account only', async () => {
    const [mine] = await insert(
      aTask({ upstreamId: 'up-1' }),
      aTask({ accountId: 'acc_2', upstreamId: 'up-2' }),
    )
    expect(idsOf([(await find('up-1'))!])).toEqual([mine!.id])
    expect(await find(mine!.id, 'acc_1')).toEqual(mine!)
    expect(await find('up-1', 'acc_1')).toEqual(mine!)
    expect(await find(mine!.id, 'acc_2')).toBeUndefined()
    expect(await find('up-1', 'acc_2')).toBeUndefined()
    expect(await find('nothing')).toBeUndefined()
  })

  test('have their upstream id to themselves within a channel', async () => {
    const first = aTask({ upstreamId: 'up-1' })
    await insert(first, aTask(), aTask(), aTask({ upstreamId: 'up-1', channelId: 'ch_2' }))
    expect(await failureOf(insert(aTask({ upstreamId: 'up-1' })))).toMatch(/unique/i)
    const second = (await insert(aTask({ state: 'accepted' })))[0]!
    const stolen: Task = { ...second, upstreamId: 'up-1', state: 'queued' }
    expect(await failureOf(update(stolen, 'accepted'))).toMatch(/unique/i)
    expect(await find(second.id)).toEqual(second)
  })

  test('move only if they are still where the mover saw them', async () => {
    const [task] = await insert(aTask())
    const running: Task = { ...task!, state: 'running', progress: 40, startedAtMs: 1_200 }
    expect(await update(running, 'queued')).toBe(true)
    const late: Task = { ...task!, state: 'cancelled' }
    expect(await update(late, 'queued')).toBe(false)
    expect(await find(task!.id)).toEqual(running)
    expect(await update({ ...aTask(), state: 'failed' }, 'queued')).toBe(false)
  })

  test('are moved by exactly one of many who want to', async () => {
    const [task] = await insert(aTask())
    const inputs = Array.from({ length: 10 }, (_, i) =>
      update({ ...task!, state: 'failed', progress: i }, 'queued'),
    )
    const moved = await Promise.all(inputs)
    expect(moved.filter(Boolean)).toHaveLength(1)
    expect((await find(task!.id))!.progress).toBe(moved.indexOf(true))
  })

  test('keep their timeline when they are written without one, and show it to no list', async () => {
    const timeline = '0 0 1 created accepted 0\n'
    const [task] = await insert(aTask({ timeline, upstreamId: 'up-1' }))
    expect(await find(task!.id)).toEqual(task!)
    const { timeline: _, ...bare } = task!
    expect(await update({ ...bare, state: 'running' } as Task, 'queued')).toBe(true)
    expect(await find(task!.id)).toEqual({ ...task!, state: 'running' } as Task)
    const longer = `${timeline}9 0 1 ended failed 0\n`
    await update({ ...task!, state: 'failed', timeline: longer }, 'running')
    expect((await find('up-1'))!.timeline).toBe(longer)
    await store.tx((tx) => putTimeline(tx, task!.id, `${longer}x`))
    expect((await find(task!.id))!.timeline).toBe(`${longer}x`)
    const { items } = await listTaskRows(store.read, { limit: 10 })
    const own = await listCallerTasks(store.read, 'acc_1', { order: 'asc', limit: 10 })
    for (const listed of [...items, ...own]) expect(listed).not.toHaveProperty('timeline')
  })

  test('are listed newest first, page by page', async () => {
    const tasks = await insert(...Array.from({ length: 5 }, () => aTask()))
    const seen: string[] = []
    let cursor: string | undefined
    const pages: number[] = []
    do {
      const page = await listTaskRows(store.read, { limit: 2, cursor })
      seen.push(...idsOf(page.items))
      pages.push(page.items.length)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual(idsOf(tasks.toReversed()))
    expect(pages).toEqual([2, 2, 1])
    const wrong = listTaskRows(store.read, { limit: 2, cursor: 'made up' })
    expect(await failureOf(wrong)).toContain('unknown cursor')
  })

  test('are listed by account, model, state, channel and interface', async () => {
    const marks = { accountId: 'acc_2', model: 'vfb-1.1-t2v', channel: 'other' } as const
    const [, odd] = await insert(
      aTask(),
      aTask({ ...marks, state: 'failed', interface: 'vendorg', hidden: true }),
    )
    const filters = [
      { accountId: 'acc_2' },
      { model: 'vfb-1.1-t2v' },
      { state: 'failed' },
      { channel: 'other' },
      { interface: 'vendorg' },
    ]
    for (const filter of filters) {
      const { items } = await listTaskRows(store.read, { limit: 10, ...filter })
      expect([filter, idsOf(items)]).toEqual([filter, [odd!.id]])
    }
    const none = await listTaskRows(store.read, { limit: 10, accountId: 'acc_2', state: 'queued' })
    expect(none.items).toEqual([])
  })

  test('show their owner what it has not put away, in both orders', async () => {
    const [a, b, , , c] = await insert(
      aTask(),
      aTask(),
      aTask({ hidden: true }),
      aTask({ accountId: 'acc_2' }),
      aTask(),
    )
    const own = async (order: 'asc' | 'desc', limit: number, after?: string) =>
      idsOf(await listCallerTasks(store.read, 'acc_1', { order, limit, after }))
    expect(await own('desc', 9)).toEqual(idsOf([c!, b!, a!]))
    expect(await own('asc', 2)).toEqual(idsOf([a!, b!]))
    expect(await own('asc', 2, b!.id)).toEqual([c!.id])
    expect(await own('desc', 9, b!.id)).toEqual([a!.id])
    expect(await own('desc', 9, a!.id)).toEqual([])
  })
})
