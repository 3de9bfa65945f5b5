// What the store promises about kept files, on every engine there is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { VideoTask } from '../../contract/task.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { Store } from '../index.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import {
  type Claim,
  type CopyTarget,
  claimFiles,
  freeAllClaims,
  giveUpClaim,
  keepFile,
  moveClaims,
  nextClaimEndMs,
  tasksWithFreeClaims,
  tasksWithoutFiles,
} from './file-claims.ts'
import {
  dropFile,
  dropTaskFiles,
  findKeptFiles,
  forgetMark,
  oldestFiles,
  oldMarks,
  sumKeptBytes,
} from './files.ts'
import { insertTask } from './tasks.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: rows of kept files on PostgreSQL (set TEST_POSTGRES_URL)')
}

const place = 'data:one'
const target = (part: number, name: string, where = place): CopyTarget => ({
  part,
  place: where,
  name,
})

const aTask = (atMs: number, state: VideoTask['state']): VideoTask => ({
  kind: 'video',
  id: newId('video', atMs),
  accountId: 'acc_1',
  tokenId: 'tok_1',
  requestId: 'req_1',
  interface: 'videos',
  model: 'vfa-2.7-t2v',
  protocol: 'vf',
  channelId: 'ch_1',
  channel: 'main',
  upstreamModel: 'film-1',
  keyFingerprint: 'mark',
  state,
  progress: 0,
  request: { prompt: 'a cat', seconds: 5, resolution: '720p', media: [] },
  priceId: 'price_1',
  holdNanos: 0n,
  chargeNanos: 0n,
  media: [],
  createdAtMs: atMs,
  updatedAtMs: atMs,
  nextCheckAtMs: atMs,
  checks: 0,
  misses: 0,
  hidden: false,
})

describe.each([...storeKinds])('kept files on %s', (dialect) => {
  let home: Place
  let store: Store

  beforeEach(async () => {
    home = await newPlace(dialect)
    store = await home.open()
  })

  afterEach(async () => {
    await store.close()
    await home.remove()
  })

  const claim = (taskId: string, targets: CopyTarget[], nowMs = 1_000, untilMs = 2_000) =>
    store.tx((tx) => claimFiles(tx, dialect, taskId, targets, { nowMs, untilMs }))
  const keep = (own: Claim, bytes = 10, keptAtMs = 5_000) =>
    store.tx((tx) => keepFile(tx, own, { bytes, type: 'video/mp4', etag: '"e"', keptAtMs }))
  const kept = async (taskId: string, bytes = 10, keptAtMs = 5_000, where = place) => {
    const [own] = await claim(taskId, [target(0, `${taskId}.mp4`, where)])
    await keep(own!, bytes, keptAtMs)
  }

  test('of those who want to copy a file, one gets leave', async () => {
    const [one, other] = await Promise.all([
      claim('t', [target(0, 'a'), target(1, 'b')]),
      claim('t', [target(0, 'c'), target(1, 'd')]),
    ])
    expect([one.length, other.length].sort()).toEqual([0, 2])
    expect([...one, ...other].map(({ attempts }) => attempts)).toEqual([1, 1])
  })

  test('a claim that ran out passes on, with what its holder may have left', async () => {
    const [first] = await claim('t', [target(0, 'a')])
    expect(await claim('t', [target(0, 'b')], 1_999)).toEqual([])
    const [second] = await claim('t', [target(0, 'b')], 2_000, 3_000)
    expect(second).toMatchObject({ attempts: 2, left: { place, name: 'a' } })
    expect(await keep(first!)).toBe(false)
    expect(await keep(second!)).toBe(true)
    expect(await findKeptFiles(store.read, ['t', 'u'])).toEqual([
      {
        taskId: 't',
        part: 0,
        place,
        name: 'b',
        bytes: 10,
        type: 'video/mp4',
        etag: '"e"',
        keptAtMs: 5_000,
      },
    ])
  })

  test('a claim is held longer by moving it, and only by its holder', async () => {
    const [own] = await claim('t', [target(0, 'a')])
    await store.tx((tx) => moveClaims(tx, [own!], 9_000))
    expect(await claim('t', [target(0, 'b')], 8_999)).toEqual([])
    await store.tx((tx) => moveClaims(tx, [{ ...own!, name: 'other' }], 1))
    expect(await tasksWithFreeClaims(store.read, 8_999, 10)).toEqual([])
    expect(await tasksWithFreeClaims(store.read, 9_000, 10)).toEqual(['t'])
    await claim('u', [target(0, 'u')], 1_000, 8_000)
    expect(await nextClaimEndMs(store.read)).toBe(8_000)
  })

  test('what is kept or given up is not claimed again', async () => {
    const [one, other] = await claim('t', [target(0, 'a'), target(1, 'b')])
    await keep(one!)
    expect(await store.tx((tx) => giveUpClaim(tx, other!, 4_000))).toBe(true)
    expect(await claim('t', [target(0, 'c'), target(1, 'd')], 99_000)).toEqual([])
    expect(await nextClaimEndMs(store.read)).toBeUndefined()
    expect(await tasksWithFreeClaims(store.read, 99_000, 10)).toEqual([])
    expect(await findKeptFiles(store.read, ['t'])).toHaveLength(1)
  })

  test('after a restart that nobody else saw, all claims are free', async () => {
    await claim('t', [target(0, 'a')], 1_000, 9_000_000)
    await kept('u')
    await store.tx(freeAllClaims)
    expect(await tasksWithFreeClaims(store.read, 1_000, 10)).toEqual(['t'])
    expect(await findKeptFiles(store.read, ['u'])).toHaveLength(1)
  })

  test('tasks that succeeded and were never claimed are found, oldest first', async () => {
    const tasks = [
      aTask(1_000, 'succeeded'),
      aTask(2_000, 'succeeded'),
      aTask(3_000, 'failed'),
      aTask(4_000, 'running'),
      aTask(5_000, 'succeeded'),
      aTask(6_000, 'succeeded'),
    ]
    for (const task of tasks) await store.tx((tx) => insertTask(tx, task))
    const ids = tasks.map(({ id }) => id)
    await claim(ids[4]!, [target(0, 'a')])
    const after = newId('video', 1_500)
    expect(await tasksWithoutFiles(store.read, after, 10)).toEqual([ids[1]!, ids[5]!])
    expect(await tasksWithoutFiles(store.read, after, 1)).toEqual([ids[1]!])
  })

  test('the bytes of a place are those of its kept files', async () => {
    expect(await sumKeptBytes(store.read, place)).toBe(0)
    await kept('t', 6_000_000_000)
    await kept('u', 5)
    await kept('v', 7, 5_000, 's3:two')
    await claim('w', [target(0, 'w')])
    expect(await sumKeptBytes(store.read, place)).toBe(6_000_000_005)
  })

  test('the oldest come first, of one place and before a moment', async () => {
    await kept('t', 1, 30)
    await kept('u', 1, 10)
    await kept('v', 1, 20)
    await kept('w', 1, 5, 's3:two')
    const names = async (limit: number, beforeMs?: number) =>
      (await oldestFiles(store.read, place, limit, beforeMs)).map(({ taskId }) => taskId)
    expect(await names(10)).toEqual(['u', 'v', 't'])
    expect(await names(1)).toEqual(['u'])
    expect(await names(10, 20)).toEqual(['u'])
  })

  test('a dropped file leaves a mark until that is forgotten', async () => {
    await kept('t')
    const [file] = await findKeptFiles(store.read, ['t'])
    expect(await store.tx((tx) => dropFile(tx, file!, 7_000))).toBe(true)
    expect(await store.tx((tx) => dropFile(tx, file!, 8_000))).toBe(false)
    expect(await findKeptFiles(store.read, ['t'])).toEqual([])
    expect(await claim('t', [target(0, 'b')], 99_000)).toEqual([])
    expect(await oldMarks(store.read, place, 7_000, 10)).toEqual([])
    const [mark] = await oldMarks(store.read, place, 7_001, 10)
    expect(mark).toMatchObject({ taskId: 't', name: 't.mp4', bytes: 0 })
    await store.tx((tx) => forgetMark(tx, mark!))
    expect(await claim('t', [target(0, 'b')], 99_000)).toHaveLength(1)
  })

  test('what is kept is not forgotten as a mark', async () => {
    await kept('t')
    const [file] = await findKeptFiles(store.read, ['t'])
    await store.tx((tx) => forgetMark(tx, file!))
    expect(await findKeptFiles(store.read, ['t'])).toHaveLength(1)
  })

  test('all of a task is dropped at once, and a copy under way is not kept', async () => {
    const [one, other] = await claim('t', [target(0, 'a'), target(1, 'b')])
    await keep(one!)
    const dropped = await store.tx((tx) => dropTaskFiles(tx, 't', 9_000))
    expect(dropped.map(({ name }) => name)).toEqual(['a'])
    expect(await keep(other!)).toBe(false)
    expect(await findKeptFiles(store.read, ['t'])).toEqual([])
  })
})
