import { expect, test } from 'bun:test'
import type { LostCreate, TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import type { AskPage } from '../tasks/style.ts'
import { findTask } from './find-task.ts'
import { isLike } from './task-report.ts'

const nowMs = Date.parse('2026-01-02T03:04:05+08:00')
const request: VideoRequest = { prompt: 'a fox', seconds: 5, resolution: '720p', media: [] }
const upstream = { model: 'film-9', plainModel: 'vfa-2.7-t2v' } as TaskUpstream
const lostOf = (more: Partial<VideoRequest> = {}): LostCreate<VideoRequest> => ({
  request: { ...request, ...more },
  fromMs: nowMs - 60_000,
  untilMs: nowMs + 60_000,
  unclaimed: async (ids) => ids.filter((id) => id !== 'taken'),
})

const row = (task_id: string, more: object = {}) => ({
  task_id,
  model_name: 'film-9',
  status: 'SUCCEEDED',
  gmt_create: nowMs,
  ...more,
})
const usage = { duration: 5, output_video_duration: 5, SR: '720', ratio: '16:9' }
const account = (task_id: string, output: object = {}, more: object = {}) => ({
  output: { task_id, task_status: 'SUCCEEDED', orig_prompt: 'a fox', ...output },
  usage,
  ...more,
})

async function search(rows: object[], accounts: object[] = [], lost = lostOf()) {
  const asked: string[] = []
  const urls = { list: 'http://up/tasks', one: (id: string) => `http://up/tasks/${id}` }
  const ask: AskPage = async (url) => {
    asked.push(url)
    if (url.startsWith(`${urls.list}?`)) return { body: { data: rows } }
    const told = accounts.find((each) => JSON.stringify(each).includes(url.slice(16)))
    return told === undefined
      ? { error: { code: 'upstream_error', message: 'x' } }
      : { body: told as Record<string, unknown> }
  }
  const found = await findTask(lost, upstream, urls, ask, isLike)
  return { asked, found, ids: found.kind === 'found' ? found.upstreamIds : found }
}

test('a finished task with the same prompt, length and size is the one', async () => {
  const { found, asked } = await search([row('t-1')], [account('t-1')])
  expect(found).toEqual({ kind: 'found', by: 'likeness', upstreamIds: ['t-1'] })
  expect(asked).toEqual([
    'http://up/tasks?page_no=1&page_size=100&model_name=film-9',
    'http://up/tasks/t-1',
  ])
})

test('two that are alike are both told of', async () => {
  const rows = [row('t-2', { gmt_create: nowMs + 5 }), row('t-1')]
  expect((await search(rows, [account('t-1'), account('t-2')])).ids).toEqual(['t-1', 't-2'])
})

test.each<[string, object]>([
  ['of another model', row('t-1', { model_name: 'film-8' })],
  ['that still runs, for its prompt is not told yet', row('t-1', { status: 'RUNNING' })],
  ['that failed', row('t-1', { status: 'FAILED' })],
  ['made long before', row('t-1', { gmt_create: nowMs - 600_000 })],
  ['made long after', row('t-1', { gmt_create: nowMs + 600_000 })],
  ['that does not tell when it was made', row('t-1', { gmt_create: null })],
  ['that another of our tasks goes by', row('taken')],
  ['with a name that leads elsewhere', row('..')],
])('a task %s is not looked at', async (_name, listed) => {
  const { ids, asked } = await search([listed], [account('t-1'), account('taken')])
  expect(ids).toEqual([])
  expect(asked).toHaveLength(1)
})

test.each<[string, object]>([
  ['another prompt', account('t-1', { orig_prompt: 'a fox ' })],
  ['no prompt', account('t-1', { orig_prompt: undefined })],
  ['another length', account('t-1', {}, { usage: { ...usage, output_video_duration: 6 } })],
  ['another size', account('t-1', {}, { usage: { ...usage, SR: 1080 } })],
])('a task with %s is another one', async (_name, told) => {
  expect((await search([row('t-1')], [told])).ids).toEqual([])
})

test('the account of somebody else is not taken for its own', async () => {
  expect((await search([row('t-1')], [{ ...account('t-9'), hint: 't-1' }])).ids).toEqual([])
})

test('another shape is another task, where one was asked for', async () => {
  expect((await search([row('t-1')], [account('t-1')], lostOf({ ratio: '9:16' }))).ids).toEqual([])
  expect((await search([row('t-1')], [account('t-1')], lostOf({ ratio: '16:9' }))).ids).toEqual([
    't-1',
  ])
})

test('a time of day without a zone is China’s', async () => {
  const listed = row('t-1', { gmt_create: undefined, submit_time: '2026-01-02 03:04:05.678' })
  expect((await search([listed], [account('t-1')])).ids).toEqual(['t-1'])
})

test.each<[string, Partial<VideoRequest>]>([
  ['pictures', { media: [{ kind: 'image', url: 'https://m.example/a.png' }] }],
  ['no prompt', { prompt: '' }],
])('with %s nobody can tell, so nothing is asked', async (_name, more) => {
  const { ids, asked } = await search([row('t-1')], [account('t-1')], lostOf(more))
  expect(ids).toEqual([])
  expect(asked).toEqual([])
})

test('too many that could be it are not looked at one by one', async () => {
  const rows = Array.from({ length: 21 }, (_, i) => row(`t-${i}`))
  expect((await search(rows)).asked).toHaveLength(1)
})

test('a question that fails is no answer', async () => {
  expect((await search([row('t-1')])).found.kind).toBe('failed')
})
