// What the store promises about the keys of creates, on every engine there is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Store } from '../index.ts'
import { failureOf, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { type CreateRow, findCreate, insertCreate, pruneCreates } from './create-keys.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: keys of creates on PostgreSQL (set TEST_POSTGRES_URL)')
}

const aRow = (more: Partial<CreateRow> = {}): CreateRow => ({
  accountId: 'acc_1',
  path: '/v1/videos',
  key: 'key-1',
  fingerprint: 'f1',
  taskId: 'video_1',
  createdAtMs: 1_000,
  ...more,
})

describe.each([...storeKinds])('keys of creates on %s', (dialect) => {
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

  const insert = (row: CreateRow, sinceMs = 0) => store.tx((tx) => insertCreate(tx, row, sinceMs))
  const find = (row: CreateRow, sinceMs = 0) => findCreate(store.read, row, sinceMs)
  const prune = (sinceMs: number, limit = 10) => store.tx((tx) => pruneCreates(tx, sinceMs, limit))

  test('are found as they were stored', async () => {
    const row = aRow({ key: ` ~"'%_\\ `, createdAtMs: 1_794_721_359_098 })
    expect(await find(row)).toBeUndefined()
    expect(await insert(row)).toBe(true)
    expect(await find(row)).toEqual(row)
  })

  test('are taken once; the second changes nothing', async () => {
    await insert(aRow())
    const second = aRow({ fingerprint: 'f2', taskId: 'video_2', createdAtMs: 2_000 })
    expect(await insert(second)).toBe(false)
    expect(await find(second)).toEqual(aRow())
  })

  test.each([
    ['account', { accountId: 'acc_2' }],
    ['path', { path: '/vendorg/models/a:predictLongRunning' }],
    ['letter', { key: 'Key-1' }],
  ])('are others with another %s', async (_, other) => {
    await insert(aRow())
    expect(await find(aRow(other))).toBeUndefined()
    expect(await insert(aRow({ ...other, taskId: 'video_2' }))).toBe(true)
    expect((await find(aRow()))!.taskId).toBe('video_1')
    expect((await find(aRow(other)))!.taskId).toBe('video_2')
  })

  test('are free again once they are too old', async () => {
    await insert(aRow())
    expect(await find(aRow(), 1_000)).toEqual(aRow())
    expect(await find(aRow(), 1_001)).toBeUndefined()
    const young = aRow({ fingerprint: 'f2', taskId: 'video_2', createdAtMs: 2_000 })
    expect(await insert(young, 1_000)).toBe(false)
    expect(await insert(young, 1_001)).toBe(true)
    expect(await find(aRow(), 1_001)).toEqual(young)
  })

  test('are taken by one of many who ask at once', async () => {
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, i) => insert(aRow({ taskId: `video_${i}` }))),
    )
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect((await find(aRow()))!.taskId).toBe(`video_${taken.indexOf(true)}`)
  })

  test('are gone with a transaction that failed', async () => {
    const failing = store.tx(async (tx) => {
      await insertCreate(tx, aRow(), 0)
      throw new Error('no')
    })
    expect(await failureOf(failing)).toBe('no')
    expect(await find(aRow())).toBeUndefined()
    expect(await insert(aRow())).toBe(true)
  })

  test('are pruned oldest first, a bounded number at a time', async () => {
    const rows = [5, 3, 1, 4, 2].map((ms) => aRow({ key: `key-${ms}`, createdAtMs: ms }))
    for (const row of rows) await insert(row)
    const left = async () => {
      const found = await Promise.all(rows.map((row) => find(row)))
      return found.flatMap((row) => (row === undefined ? [] : [row.createdAtMs])).toSorted()
    }
    expect(await prune(5, 3)).toBe(3)
    expect(await left()).toEqual([4, 5])
    expect(await prune(5, 3)).toBe(1)
    expect(await prune(5, 3)).toBe(0)
    expect(await left()).toEqual([5])
  })
})
