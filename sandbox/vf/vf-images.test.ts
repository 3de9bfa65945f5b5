import { afterAll, expect, test } from 'bun:test'
import { readPng } from '../media/test-png.ts'
import { startSandbox } from '../server.ts'
import type { ListedTask } from '../tasks/task-memory.ts'
import { loggedCalls } from '../testing.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05.678+08:00') }
const taskMs = 10_000
const sandbox = startSandbox({ taskSeconds: taskMs / 1000, now: () => clock.time })
afterAll(() => sandbox.stop())

interface Body {
  request_id: string
  code?: string
  output: {
    task_id: string
    task_status: string
    results: { url?: string; code?: string; message?: string }[]
    choices: { message: { role: string; content: { image: string }[] } }[]
  }
  usage?: Record<string, unknown>
}

const base = sandbox.protocols.vf ?? ''
const services = `${base}/api/v1/services/aigc`
const authorization = 'Bearer sk-upstream-0123456789'
const later = { 'x-dashscope-async': 'enable' }

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${services}/${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const read = async (response: Response) => (await response.json()) as Body

const atOnce = 'multimodal-generation/generation'
const talkOf = (text: string, parameters: object = {}, images: string[] = []) => ({
  model: 'imga-plus',
  input: {
    messages: [{ role: 'user', content: [...images.map((image) => ({ image })), { text }] }],
  },
  parameters,
})
const promptOf = (prompt: string, parameters: object = {}, input: object = {}) => ({
  model: 'imga-2.5-t2i',
  input: { prompt, ...input },
  parameters,
})

const query = async (id: string) =>
  read(await fetch(`${base}/api/v1/tasks/${id}`, { headers: { authorization } }))
const create = async (body: object, path = 'text2image/image-synthesis') =>
  (await read(await post(path, body, later))).output.task_id
async function done(body: object, path?: string): Promise<Body> {
  const id = await create(body, path)
  clock.time += taskMs
  return query(id)
}
const pngAt = async (url: string | undefined) => readPng(await (await fetch(url!)).bytes())

test('images come at once as what the model says', async () => {
  const response = await post(atOnce, talkOf('a cat', { n: 2, size: '1328*1024', seed: 1 }))
  expect(response.status).toBe(200)
  const { output, usage, request_id } = await read(response)
  expect(request_id).toBe(response.headers.get('x-request-id')!)
  expect(usage).toEqual({ image_count: 2, width: 1328, height: 1024 })
  expect(output.choices).toHaveLength(1)
  const { role, content } = output.choices[0]!.message
  expect([role, content.length]).toEqual(['assistant', 2])
  expect(await pngAt(content[1]!.image)).toMatchObject({ width: 1328, height: 1024 })
  expect((await loggedCalls(sandbox)).at(-1)).toMatchObject({ protocol: 'vf', images: 2 })
})

test('the service that answers at once makes no tasks, and the others make nothing else', async () => {
  expect((await post(atOnce, talkOf('a cat'), later)).status).toBe(403)
  expect((await post('text2image/image-synthesis', promptOf('a cat'))).status).toBe(403)
})

test('a delay slows the answer given at once', async () => {
  const left = fetch(`${services}/${atOnce}`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify(talkOf('[[sim:delay=60s]]')),
    signal: AbortSignal.timeout(60),
  })
  expect(await left.then(String, () => 'no answer')).toBe('no answer')
})

test('an edited image bears the mark of what it was made from', async () => {
  const images = ['https://up.example/a.png', 'data:image/png;base64,AAAA']
  const { output } = await read(await post(atOnce, talkOf('bluer', {}, images)))
  expect(output.choices[0]!.message.content[0]!.image).toMatch(/-1024x1024-2i[0-9a-f]{6}f50\.png/)
})

test('a task makes images, and all services tell of it alike', async () => {
  const paths = ['text2image/image-synthesis', 'image2image/image-synthesis']
  for (const path of [...paths, 'image-generation/generation']) {
    const id = await create(promptOf('a fox', { n: 3, size: '512*768' }), path)
    expect((await query(id)).output).toMatchObject({ task_id: id, task_status: 'PENDING' })
    clock.time += taskMs
    const { output, usage } = await query(id)
    expect(output).toMatchObject({
      task_status: 'SUCCEEDED',
      task_metrics: { TOTAL: 3, SUCCEEDED: 3, FAILED: 0 },
      orig_prompt: 'a fox',
    })
    expect(usage).toEqual({ image_count: 3 })
    expect(new Set(output.results.map(({ url }) => url)).size).toBe(3)
    expect(await pngAt(output.results[2]!.url)).toMatchObject({ width: 512, height: 768 })
  }
})

test('image tasks are in the truth list and in the upstream’s own', async () => {
  const id = await create(promptOf('[[sim:partial=1]]', { n: 2 }))
  const listed = await fetch(`${sandbox.url}/_sandbox/tasks`)
  const { tasks } = (await listed.json()) as { tasks: ListedTask[] }
  const row = { id, model: 'imga-2.5-t2i', state: 'queued', seconds: 0, resolution: '1024*1024' }
  expect(tasks.at(-1)).toEqual({
    ...row,
    images: 1,
    created_ms: clock.time,
    polls: 0,
  } as ListedTask)
  const own = await fetch(`${base}/api/v1/tasks?page_size=1`, { headers: { authorization } })
  expect(await own.json()).toMatchObject({ data: [{ task_id: id, status: 'PENDING' }] })
})

test('of images that do not come, a task tells why, one by one', async () => {
  const { output, usage } = await done(promptOf('[[sim:partial=2]]', { n: 4 }))
  expect(output.task_status).toBe('SUCCEEDED')
  expect(output.results.map(({ url, code }) => [url !== undefined, code])).toEqual([
    [true, undefined],
    [true, undefined],
    [false, 'InternalError.Algo'],
    [false, 'InternalError.Algo'],
  ])
  expect(usage).toEqual({ image_count: 2 })
  const none = await done(promptOf('[[sim:no-output]]', { n: 4 }))
  expect(none.output).toMatchObject({ task_status: 'SUCCEEDED', results: [] as object[] })
  expect(none.usage).toEqual({ image_count: 0 })
  expect((await done(promptOf('[[sim:no-usage]]'))).usage).toBeUndefined()
})

test('an answer given at once leaves out what does not come', async () => {
  const few = await read(await post(atOnce, talkOf('[[sim:partial=1]]', { n: 3 })))
  expect(few.output.choices[0]!.message.content).toHaveLength(1)
  expect(few.usage).toMatchObject({ image_count: 1 })
  const none = await read(await post(atOnce, talkOf('[[sim:no-output]]')))
  expect(none.output.choices[0]!.message.content).toEqual([])
})

test('failures have the upstream’s words', async () => {
  const failed = await done(promptOf('[[sim:fail]]'))
  expect(failed.output).toMatchObject({ task_status: 'FAILED', code: 'InternalError.Algo' })
  const policy = await done(promptOf('[[sim:fail=content_policy]]'))
  expect(policy.output).toMatchObject({ task_status: 'FAILED', code: 'DataInspectionFailed' })
  const refused = await post(atOnce, talkOf('[[sim:fail=content_policy]]'))
  expect([refused.status, (await read(refused)).code]).toEqual([400, 'DataInspectionFailed'])
  const crashed = await post(atOnce, talkOf('[[sim:fail]]'))
  expect([crashed.status, (await read(crashed)).code]).toEqual([500, 'InternalError'])
})

test.each<[string, object]>([
  ['size', talkOf('a', { size: '1024x1024' })],
  ['size', talkOf('a', { size: '8*8' })],
  ['n', talkOf('a', { n: 0 })],
  ['n', talkOf('a', { n: '2' })],
  ['seed', talkOf('a', { seed: -1 })],
  ['prompt', talkOf('')],
  ['image', talkOf('a', {}, ['file:///etc/hosts'])],
  ['number of images', talkOf('a', {}, Array(10).fill('https://up.example/a.png'))],
  ['model', { input: { prompt: 'a' } }],
])('a wrong %s is refused: %#', async (_, body) => {
  const response = await post(atOnce, body)
  expect([response.status, (await read(response)).code]).toEqual([400, 'InvalidParameter'])
})
