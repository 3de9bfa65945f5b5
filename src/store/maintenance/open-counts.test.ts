// What is open, on every engine there is: only that, and from when the next of it is due.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { raiseAlert, resolveAlerts } from '../catalog/alerts.ts'
import type { Store } from '../index.ts'
import { insertCallback } from '../tasks/callbacks.ts'
import { insertTask } from '../tasks/tasks.ts'
import { aTask } from '../tasks/test-tasks.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import { countOpen } from './open-counts.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: counts on PostgreSQL (set TEST_POSTGRES_URL)')
}

describe.each([...storeKinds])('open work on %s', (dialect) => {
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

  test('is none in an empty database', async () => {
    expect(await countOpen(store.read, 10_000)).toEqual({
      ...{ tasks: [], batches: [], callbacks: 0, alerts: [] },
    })
  })

  test('is counted by what it is, and what has ended is not', async () => {
    await store.tx(async (tx) => {
      await insertTask(tx, aTask({ state: 'queued', createdAtMs: 500, nextCheckAtMs: 3_000 }))
      await insertTask(tx, aTask({ state: 'queued', nextCheckAtMs: 2_500 }))
      await insertTask(tx, aTask({ state: 'running', interface: 'arkvendor' }))
      await insertTask(tx, aTask({ state: 'succeeded', createdAtMs: 1, nextCheckAtMs: 1 }))
      const callback = { taskId: 'video_1', accountId: 'acc_1', url: 'https://example.com/' }
      await insertCallback(tx, { ...callback, id: 'msg_1', createdAtMs: 7_000 })
      const alert = { kind: 'books', subject: 'acc_1', message: 'no', atMs: 1 }
      await raiseAlert(tx, alert)
      await raiseAlert(tx, { ...alert, subject: 'acc_2' })
      await raiseAlert(tx, { ...alert, kind: 'guards' })
      await resolveAlerts(tx, 'guards', 'acc_1', 2)
    })
    const open = await countOpen(store.read, 10_000)
    const tasks = open.tasks.map(({ interface: use, state, count }) => [use, state, count])
    expect(tasks.sort()).toEqual([
      ['arkvendor', 'running', 1],
      ['videos', 'queued', 2],
    ])
    expect(open).toMatchObject({
      oldestTaskMs: 500,
      nextPollMs: 2_000,
      callbacks: 1,
      nextCallbackMs: 7_000,
      alerts: [{ kind: 'books', count: 2 }],
    })
  })
})
