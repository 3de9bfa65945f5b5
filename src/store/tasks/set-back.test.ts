// Rows that were put off by a clock which has been set back since: none of them waits for that clock.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Price } from '../../contract/price.ts'
import { insertPrice, loadPrices } from '../catalog/prices.ts'
import { leaseDue, recordOutcome, wakeStrandedDeliveries } from '../deliveries/queue.ts'
import type { Store } from '../index.ts'
import { takeAuditLock } from '../proof/audit-recent.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import { insertAbandonedCheck, takeAbandonedChecks, wakeStrandedPolls } from './abandoned-checks.ts'
import { callbackQueue, findCallback, insertCallback } from './callbacks.ts'
import { claimFiles, tasksWithFreeClaims } from './file-claims.ts'
import { leaseDueTasks, wakeStranded } from './leases.ts'
import { insertTask } from './tasks.ts'
import { aTask } from './test-tasks.ts'

const hourMs = 3_600_000
/** Before, and after the clock was set back by an hour. */
const before = 1_800_000_000_000
const after = before - hourMs

describe.each([...storeKinds])('after a clock was set back, on %s,', (dialect) => {
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

  const max = { pollMs: 132_000, waitMs: 900_000 }
  const lease = (nowMs: number, owner = 'one') =>
    store.tx(async (tx) => {
      await wakeStranded(tx, nowMs, max)
      const input = { owner, nowMs, untilMs: nowMs + 25_000, limit: 10 }
      return (await leaseDueTasks(tx, dialect, input)).leased.map(({ task }) => task.id)
    })

  test('tasks are looked at, whatever they waited for', async () => {
    const [soon, long, due] = [
      aTask({ updatedAtMs: before, nextCheckAtMs: before + 10_000 }),
      aTask({ updatedAtMs: before, nextCheckAtMs: before + 900_000, state: 'unknown' }),
      aTask({ updatedAtMs: before, nextCheckAtMs: after + 3 * max.waitMs }),
    ]
    await store.tx(async (tx) => {
      for (const task of [soon, long, due]) await insertTask(tx, task)
    })
    expect((await lease(after)).sort()).toEqual([soon.id, long.id, due.id].sort())
  })

  test('tasks that wait for as long as they may are left alone', async () => {
    const waiting = aTask({ updatedAtMs: after - 60_000, nextCheckAtMs: after + 840_000 })
    const running = aTask({ updatedAtMs: after, nextCheckAtMs: after + 120_000 })
    await store.tx(async (tx) => {
      for (const task of [waiting, running]) await insertTask(tx, task)
    })
    expect(await lease(after)).toEqual([])
  })

  test('a lease of before keeps nobody away', async () => {
    const task = aTask({ updatedAtMs: after - hourMs, nextCheckAtMs: after - hourMs })
    await store.tx((tx) => insertTask(tx, task))
    expect(await lease(before)).toEqual([task.id])
    expect(await lease(before + 1_000, 'two')).toEqual([])
    expect(await lease(after, 'two')).toEqual([task.id])
    expect(await lease(after + 1_000)).toEqual([])
  })

  test('callbacks are sent after their own wait at the latest', async () => {
    const row = { id: 'msg_1', taskId: 'video_1', accountId: 'acc_1', url: 'https://r.example/' }
    const waitsMs = [0, 5_500, hourMs / 2]
    const due = (nowMs: number) =>
      store.tx(async (tx) => {
        await wakeStrandedDeliveries(tx, callbackQueue, nowMs, waitsMs)
        const leased = await leaseDue(tx, dialect, callbackQueue, {
          owner: 'one',
          nowMs,
          untilMs: nowMs + 20_000,
          window: 10,
          choose: (all) => all,
          fullOrigins: [],
          fullOwners: [],
        })
        return leased.length
      })
    const failed = (atMs: number, waitMs: number) =>
      store.tx((tx) =>
        recordOutcome(tx, dialect, callbackQueue, {
          ...{ id: row.id, owner: 'one', attempt: { atMs, tookMs: 1 } },
          fateAfter: () => ({ state: 'waiting', nextAtMs: atMs + waitMs }),
        }),
      )
    await store.tx((tx) => insertCallback(tx, { ...row, createdAtMs: before }))
    expect(await due(after)).toBe(1)
    await failed(before, 5_000)
    expect(await due(after)).toBe(1)
    await failed(after, hourMs / 2)
    expect(await due(after)).toBe(0)
    expect((await findCallback(store.read, row.taskId))?.nextAtMs).toBe(after + hourMs / 2)
    // A lease taken before does not block.
    const second = { ...row, id: 'msg_2', taskId: 'video_2', createdAtMs: after - hourMs }
    await store.tx((tx) => insertCallback(tx, second))
    expect([await due(before), await due(before + 1)]).toEqual([2, 0])
    expect(await due(after)).toBe(1)
  })

  test('late polls, claims of files and audits have their turn', async () => {
    await store.tx(async (tx) => {
      await insertAbandonedCheck(tx, 'video_a', before + 600_000)
      await insertAbandonedCheck(tx, 'video_b', after + 600_000)
      await wakeStrandedPolls(tx, after, [900_000])
    })
    const polls = await store.tx((tx) =>
      takeAbandonedChecks(tx, dialect, { nowMs: after, againMs: after + 1, limit: 10 }),
    )
    expect(polls.map(({ taskId }) => taskId)).toEqual(['video_a'])

    const target = { part: 0, place: 'here', name: 'file' }
    const claim = (nowMs: number) =>
      store.tx((tx) =>
        claimFiles(tx, dialect, 'video_a', [target], { nowMs, untilMs: nowMs + 30_000 }),
      )
    expect(await claim(before)).toHaveLength(1)
    expect(await claim(before + 1)).toHaveLength(0)
    expect(await tasksWithFreeClaims(store.read, before + 1, 10)).toEqual([])
    expect(await tasksWithFreeClaims(store.read, after, 10)).toEqual(['video_a'])
    expect(await claim(after)).toHaveLength(1)

    const turn = (nowMs: number) => store.tx((tx) => takeAuditLock(tx, { nowMs, everyMs: 60_000 }))
    expect([await turn(before), await turn(before + 1), await turn(after)]).toEqual([
      true,
      false,
      true,
    ])
    expect([await turn(after + 59_000), await turn(after + 60_000)]).toEqual([false, true])
  })

  test('a price that was to begin at once has begun, and the one made after it comes after it', async () => {
    const price = (id: string, effectiveFromMs: number): Price => ({
      id,
      model: 'm',
      terms: { unit: 'image', perImageNanos: 1n },
      effectiveFromMs,
      source: 'api',
    })
    await store.tx(async (tx) => {
      await insertPrice(tx, price('price_1', before), before)
      await insertPrice(tx, price('price_2', after), after)
      await insertPrice(tx, price('price_3', after + 60_000), after)
    })
    const found = await loadPrices(store.read)
    expect(found.map(({ id, effectiveFromMs, atOnce }) => [id, effectiveFromMs, atOnce])).toEqual([
      ['price_3', after + 60_000, undefined],
      ['price_1', before, true],
      ['price_2', before + 1, true],
    ])
  })
})
