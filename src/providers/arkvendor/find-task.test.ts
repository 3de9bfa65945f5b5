import { expect, test } from 'bun:test'
import type { LostCreate, TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { findTask } from './find-task.ts'

const nowSeconds = 1_767_323_045
const request: VideoRequest = { prompt: 'a boat', seconds: 5, resolution: '720p', media: [] }
const upstream = {
  model: 'vidmodel-1-0-pro',
  plainModel: 'vidmodel-1-0-pro',
  marker: 'video_mine',
} as TaskUpstream

const lostOf = (more: Partial<LostCreate<VideoRequest>> = {}): LostCreate<VideoRequest> => ({
  request,
  fromMs: nowSeconds * 1000 - 60_000,
  untilMs: nowSeconds * 1000 + 60_000,
  unclaimed: async (ids) => ids,
  ...more,
})

const row = (id: string, more: object = {}) => ({ id, created_at: nowSeconds, ...more })
const mine = (id: string, more: object = {}) =>
  row(id, { safety_identifier: 'video_mine', ...more })

async function search(pages: object[][], lost = lostOf()) {
  const asked: string[] = []
  const found = await findTask(lost, upstream, 'http://up/tasks', async (url) => {
    asked.push(url)
    return { body: { items: pages[asked.length - 1] ?? [], total: 999 } }
  })
  return { asked, found, ids: found.kind === 'found' ? found.upstreamIds : found }
}

test('the task with the marker is the one, and no other', async () => {
  const others = [row('cgt-1'), row('cgt-2', { safety_identifier: 'video_other' })]
  const { found, asked } = await search([[...others, mine('cgt-3')]])
  expect(found).toEqual({
    kind: 'found',
    by: 'marker',
    upstreamIds: ['cgt-3'],
    upstreamModel: 'vidmodel-1-0-pro-250528',
  })
  expect(asked).toEqual([
    'http://up/tasks?page_num=1&page_size=100&filter.model=vidmodel-1-0-pro-250528',
  ])
})

test('without the marker nothing is taken, however alike', async () => {
  expect((await search([[row('cgt-1')]])).ids).toEqual([])
  expect((await search([[]])).ids).toEqual([])
})

test('a second task of the same create comes after the first', async () => {
  const late = mine('cgt-late', { created_at: nowSeconds + 9 })
  expect((await search([[late, mine('cgt-early')]])).ids).toEqual(['cgt-early', 'cgt-late'])
})

test('what another task goes by, or cannot be asked for, is left out', async () => {
  const lost = lostOf({ unclaimed: async (ids) => ids.filter((id) => id !== 'cgt-taken') })
  const rows = [mine('cgt-taken'), mine('..'), mine('cgt-free')]
  expect((await search([rows], lost)).ids).toEqual(['cgt-free'])
})

test('a clock that is half an hour off does not hide it, one of days does', async () => {
  expect((await search([[mine('a', { created_at: nowSeconds + 1800 })]])).ids).toEqual(['a'])
  expect((await search([[mine('a', { created_at: nowSeconds - 200_000 })]])).ids).toEqual([])
})

test('pages are read until they are older than the create', async () => {
  const page = (at: number) =>
    Array.from({ length: 100 }, (_, i) => row(`c${at}-${i}`, { created_at: at }))
  const fresh = await search([page(nowSeconds), page(nowSeconds), [mine('cgt-3')]])
  expect(fresh.ids).toEqual(['cgt-3'])
  expect(fresh.asked).toHaveLength(3)
  const old = await search([page(nowSeconds), page(nowSeconds - 90_000), [mine('cgt-3')]])
  expect(old.asked).toHaveLength(2)
  const endless = await search(Array(50).fill(page(nowSeconds)))
  expect(endless.asked).toHaveLength(20)
})

test('a caller who names its own user leaves no room for the marker: nothing is asked', async () => {
  const native = { body: { safety_identifier: 'user-7' } }
  const { ids, asked } = await search(
    [[row('a', native.body)]],
    lostOf({ request: { ...request, native } }),
  )
  expect(ids).toEqual([])
  expect(asked).toEqual([])
})

test('a list that cannot be read is no answer', async () => {
  const error = { code: 'upstream_error', message: 'x' } as const
  const found = await findTask(lostOf(), upstream, 'http://up/tasks', async () => ({ error }))
  expect(found).toEqual({ kind: 'failed', error })
})
