// A caller's own tasks by filter and page, on every engine there is.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { CallerTaskFilter } from '../../contract/caller-api.ts'
import type { VideoTask } from '../../contract/task.ts'
import type { Store } from '../index.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import { searchCallerTasks } from './caller-tasks.ts'
import { findTaskRow, insertTask } from './tasks.ts'

const taskOf = (id: string, more: Partial<VideoTask> = {}): VideoTask => ({
  kind: 'video',
  id,
  accountId: 'acc_1',
  tokenId: 'tok_1',
  requestId: 'req_1',
  interface: 'arkvendor',
  model: 'plain',
  protocol: 'arkvendor',
  channelId: 'cloud',
  channel: 'cloud',
  upstreamModel: 'plain-250528',
  keyFingerprint: 'k',
  upstreamId: `up-${id}`,
  state: 'queued',
  progress: 0,
  request: { prompt: 'a boat', seconds: 5, resolution: '720p', media: [] },
  priceId: 'price_1',
  holdNanos: 0n,
  chargeNanos: 0n,
  media: [],
  createdAtMs: 1,
  updatedAtMs: 1,
  nextCheckAtMs: 1,
  checks: 0,
  misses: 0,
  hidden: false,
  ...more,
})

const kept: readonly VideoTask[] = [
  taskOf('video_1'),
  taskOf('video_2', { state: 'running' }),
  taskOf('video_3', { model: 'other', upstreamModel: 'oth"er%_1' }),
  taskOf('video_4', { interface: 'videos', protocol: 'vf', upstreamModel: 'vf' }),
  taskOf('video_5', { hidden: true }),
  taskOf('video_6', { accountId: 'acc_2' }),
]

describe.each([...storeKinds])('own tasks on %s', (dialect) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    for (const task of kept) await store.tx((tx) => insertTask(tx, task))
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const found = async (filter: Partial<CallerTaskFilter>) => {
    const page = { limit: 10, offset: 0, ...filter }
    const { tasks, total } = await searchCallerTasks(store.read, 'acc_1', page)
    return [tasks.map(({ id }) => id.slice(-1)).join(''), total]
  }

  test.each<[Partial<CallerTaskFilter>, string, number]>([
    [{}, '4321', 4],
    [{ limit: 2 }, '43', 4],
    [{ limit: 2, offset: 3 }, '1', 4],
    [{ offset: 9 }, '', 4],
    [{ protocol: 'arkvendor' }, '321', 3],
    [{ interfaces: ['videos', 'vendorg'] }, '4', 1],
    [{ states: ['running', 'failed'] }, '2', 1],
    [{ ids: ['video_1', 'up-video_3', 'video_5', 'video_6', 'up-video_6', 'none'] }, '31', 2],
    [{ model: 'other' }, '3', 1],
    [{ model: 'plain-250528' }, '21', 2],
    [{ model: 'plain-25052' }, '', 0],
    [{ model: 'oth"er%_1' }, '3', 1],
    [{ model: '%' }, '', 0],
    [{ model: 'plain', states: ['queued'], ids: ['video_1', 'video_2'] }, '1', 1],
  ])('%j: %s of %p', async (filter, ids, total) => {
    expect(await found(filter)).toEqual([ids, total])
  })
})

test.each([...storeKinds])(
  'tasks of the release before are found all the same on %s',
  async (on) => {
    const place = await newPlace(on, { empty: true })
    const old = await place.open({ schema: 7 })
    const { upstreamModel } = taskOf('video_1', { upstreamModel: 'o"ld 模型' })
    const body = JSON.stringify({
      upstreamModel,
      keyFingerprint: 'k',
      request: {},
      media: [],
      misses: 0,
    })
    await old.tx((tx) =>
      sql`INSERT INTO tasks (id, account_id, token_id, request_id, interface, model, protocol,
        channel_id, channel, state, progress, hold_nanos, charge_nanos, price_id, created_at_ms,
        updated_at_ms, next_check_at_ms, checks, lease_until_ms, fence, hidden, body)
      VALUES ('video_1', 'acc_1', 'tok_1', 'req_1', 'arkvendor', 'plain', 'arkvendor', 'cloud', 'cloud',
        'succeeded', 100, 0, 0, 'price_1', 1, 1, 1, 3, 0, 0, 0, ${body})`.execute(tx),
    )
    await old.close()
    const store = await place.open()
    for (const model of [upstreamModel, 'plain']) {
      const page = { limit: 10, offset: 0, model }
      const { tasks, total } = await searchCallerTasks(store.read, 'acc_1', page)
      expect([total, tasks.map((task) => task.upstreamModel)]).toEqual([1, [upstreamModel]])
    }
    expect(await findTaskRow(store.read, 'video_1')).not.toHaveProperty('timeline')
    await store.close()
    await place.remove()
  },
)
