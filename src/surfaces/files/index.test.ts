// Files by their links: no token, no way to make a link up or to make it last.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { Hono } from 'hono'
import type { VideoTask } from '../../contract/task.ts'
import { createCallerApi } from '../../engine/caller-api.ts'
import { linksOf } from '../../engine/results/file-links.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { aTask } from '../../store/tasks/test-tasks.ts'
import type { Env } from '../common/surface.ts'
import { files } from './index.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const pixel = new Uint8Array([0x89, 0x50, 0x4e, 0x47])

let test_: TestEngine
let task: VideoTask
const app = new Hono<Env>()
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => {
    const type = url.endsWith('.png') ? 'image/png' : 'text/html'
    return new Response(pixel, { headers: { 'content-type': type, server: 'canary' } })
  },
})

beforeAll(async () => {
  test_ = await newTestEngine('sqlite')
  files.mount(app, { api: createCallerApi(test_.engine), limits, hotPost: () => {} })
})
afterAll(async () => {
  await upstream.stop(true)
  await test_.close()
})
beforeEach(async () => {
  task = await keep({})
})

async function keep(more: Partial<VideoTask>): Promise<VideoTask> {
  const base = `http://127.0.0.1:${upstream.port}`
  const nowMs = test_.engine.clock.nowMs()
  const id = newId('video')
  const kept = aTask({
    id,
    upstreamId: `cgt-${id}`,
    state: 'succeeded',
    channelId: 'sandbox',
    finishedAtMs: nowMs,
    media: [
      { kind: 'video', url: `${base}/film.mp4` },
      { kind: 'image', url: `${base}/last.png` },
      { kind: 'image', url: `${base}/page.html` },
    ],
    ...more,
  })
  await test_.engine.store.tx((tx) => insertTask(tx, kept))
  return kept
}

const linkTo = (part: number, of = task) => new URL(linksOf(test_.engine)(of, part))

async function ask(url: URL, method = 'GET'): Promise<Response> {
  const request = new Request(`http://localhost${url.pathname}${url.search}`, { method })
  return app.fetch(request, { context: newRequestContext(request, connection) })
}

const codeOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
]

test('each file of a task is had by its own link, without a token', async () => {
  const video = await ask(linkTo(0))
  expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4'])
  expect(video.headers.get('content-disposition')).toBe(`inline; filename="${task.id}.mp4"`)
  await video.body?.cancel()
  const frame = await ask(linkTo(1))
  expect([frame.status, frame.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(new Uint8Array(await frame.arrayBuffer())).toEqual(pixel)
  expect(frame.headers.get('server')).toBeNull()
  const head = await ask(linkTo(1), 'HEAD')
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('a file is never handed out as a page', async () => {
  const page = await ask(linkTo(2))
  expect(page.headers.get('content-type')).toBe('application/octet-stream')
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  await page.body?.cancel()
})

test('a link that was made up or changed leads nowhere', async () => {
  const other = await keep({})
  const bad = [
    linkTo(0).href.replace(/sig=.{4}/, 'sig=0000'),
    linkTo(0).href.replace(/&sig=.*/, ''),
    linkTo(0).href.replace(/until=(\d)/, 'until=9$1'),
    linkTo(0).href.replace('/0?', '/1?'),
    linkTo(0).href.replace('/0?', '/00?'),
    linkTo(0).href.replace(task.id, other.id),
    linkTo(0).href.replace(task.id, 'constructor'),
    linkTo(0).href.replace('/0?', '/-1?'),
    linkTo(7).href,
  ]
  for (const href of bad) {
    expect([href, ...(await codeOf(await ask(new URL(href))))]).toEqual([
      href,
      404,
      'file_not_found',
    ])
  }
})

test('a link ends with its file, and when the task is put away', async () => {
  const soon = [{ ...task.media[0]!, expiresAtMs: test_.engine.clock.nowMs() - 1_000 }]
  const over = await keep({ media: soon })
  expect(await codeOf(await ask(linkTo(0, over)))).toEqual([410, 'video_expired'])
  const hidden = await keep({ hidden: true })
  expect(await codeOf(await ask(linkTo(0, hidden)))).toEqual([404, 'file_not_found'])
})
