// The native routes over a real store, where no upstream has to take part: who is let in, what is
// found under which id.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Hono } from 'hono'
import type { VideoTask } from '../../contract/task.ts'
import { createCallerApi } from '../../engine/caller-api.ts'
import { applyDeclarations } from '../../engine/catalog/apply-declarations.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { fileWith, newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { loadTokens } from '../../store/catalog/tokens.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import type { Env } from '../common/surface.ts'
import { arkvendor } from './index.ts'
import { nativeTask } from './test-task.ts'

const secret = `sk-${'a'.repeat(30)}`
const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }

let test_: TestEngine
let accountId: string
const app = new Hono<Env>()

beforeAll(async () => {
  test_ = await newTestEngine('sqlite')
  const file = fileWith({
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'mine', token: secret }],
  })
  await applyDeclarations(test_.engine, file)
  test_.engine.declared = { ...test_.engine.declared, file }
  await refresh(test_.engine)
  accountId = (await loadTokens(test_.engine.store.read))[0]!.accountId
  arkvendor.mount(app, { api: createCallerApi(test_.engine), limits, hotPost: () => {} })
})
afterAll(async () => {
  await test_.close()
})

async function ask(method: string, rest: string, token = secret): Promise<Response> {
  const url = `http://localhost/arkvendor/api/v3/contents/generations/tasks${rest}`
  const headers = { authorization: `Bearer ${token}` }
  const request = new Request(url, { method, headers })
  return app.fetch(request, { context: newRequestContext(request, connection) })
}

async function keep(id: string, more: Partial<VideoTask> = {}): Promise<void> {
  const task = nativeTask({ id, upstreamId: `cgt-${id}`, accountId, ...more })
  await test_.engine.store.tx((tx) => insertTask(tx, task))
}

const codeOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
]

test.each([
  ['POST', ''],
  ['GET', ''],
  ['GET', '/video_1'],
  ['DELETE', '/video_1'],
])('a stranger is not let in by %s %p', async (method, rest) => {
  const answer = await ask(method, rest, `sk-${'c'.repeat(30)}`)
  expect(await codeOf(answer)).toEqual([401, 'invalid_api_key'])
})

test('a task that is no video, or was put away, is none here', async () => {
  await keep('image_0done', { interface: 'imgvendor', protocol: 'imgvendor' })
  await keep('video_0hidden', { hidden: true })
  for (const id of ['image_0done', 'cgt-image_0done', 'video_0hidden', 'constructor']) {
    expect(await codeOf(await ask('GET', `/${id}`))).toEqual([404, 'task_not_found'])
  }
  const listed = await ask('GET', '?filter.task_ids=image_0done,video_0hidden')
  expect(await listed.json()).toEqual({ items: [], total: 0 })
})
