import { afterAll, expect, test } from 'bun:test'
import { readMovie } from '../media/test-mp4.ts'
import { startSandbox } from '../server.ts'
import type { ListedTask, LoggedCreate } from '../tasks/task-memory.ts'
import { loggedCalls } from '../testing.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05.678+08:00') }
const taskMs = 10_000
const sandbox = startSandbox({ taskSeconds: taskMs / 1000, now: () => clock.time })
afterAll(() => sandbox.stop())

interface Body {
  request_id: string
  code?: string
  message?: string
  output: Record<string, string>
  usage?: Record<string, unknown>
}

const key = 'sk-upstream-0123456789'
const authorization = `Bearer ${key}`
const createPath = '/api/v1/services/aigc/video-generation/video-synthesis'
const base = sandbox.protocols.vf ?? ''

function post(body: object, headers: Record<string, string> = {}, init: RequestInit = {}) {
  const usual = { authorization, 'x-dashscope-async': 'enable', 'content-type': 'application/json' }
  const all = { ...usual, ...headers }
  return fetch(base + createPath, {
    method: 'POST',
    headers: all,
    body: JSON.stringify(body),
    ...init,
  })
}

const orderOf = (prompt: string, parameters: object = {}, input: object = {}) => ({
  model: 'vfb-1.1-t2v',
  input: { prompt, ...input },
  parameters: { resolution: '720P', duration: 5, ...parameters },
})

const read = async (response: Response) => (await response.json()) as Body

async function create(
  prompt: string,
  parameters: object = {},
  input: object = {},
): Promise<string> {
  return (await read(await post(orderOf(prompt, parameters, input)))).output['task_id']!
}

const query = async (id: string, from = authorization): Promise<Body> =>
  read(await fetch(`${base}/api/v1/tasks/${id}`, { headers: { authorization: from } }))

const cancel = (id: string) =>
  fetch(`${base}/api/v1/tasks/${id}/cancel`, { method: 'POST', headers: { authorization } })

const statusOf = async (id: string) => (await query(id)).output['task_status']

const listed = async (search: string) =>
  (await (
    await fetch(`${base}/api/v1/tasks?${search}`, { headers: { authorization } })
  ).json()) as { data: { task_id: string; status: string }[]; total: number; total_page: number }

const truth = async (id: string) => {
  const answer = (await (await fetch(`${sandbox.url}/_sandbox/tasks`)).json()) as {
    tasks: ListedTask[]
  }
  return answer.tasks.find((task) => task.id === id)
}

test('a task is created at once, waits, runs and ends with a video and its usage', async () => {
  const begun = clock.time
  const response = await post(orderOf('a cat', { duration: 7, seed: 11, watermark: false }))
  expect(response.status).toBe(200)
  const created = await read(response)
  const id = created.output['task_id']!
  const requestId = response.headers.get('x-request-id')!
  expect(created).toEqual({
    output: { task_status: 'PENDING', task_id: id },
    request_id: requestId,
  })
  const submit_time = '2026-01-02 03:04:05.678'
  const pending = { task_id: id, task_status: 'PENDING', submit_time }
  expect((await query(id)).output).toEqual(pending)
  clock.time = begun + taskMs / 5
  const scheduled_time = '2026-01-02 03:04:07.678'
  const running = { ...pending, task_status: 'RUNNING', scheduled_time }
  expect(await query(id)).toMatchObject({ output: running })
  clock.time = begun + taskMs
  const { output, usage } = await query(id)
  expect(output).toEqual({
    ...running,
    task_status: 'SUCCEEDED',
    end_time: '2026-01-02 03:04:15.678',
    orig_prompt: 'a cat',
    actual_prompt: 'a cat',
    video_url: output['video_url']!,
  })
  const seconds = { duration: 7, input_video_duration: 0, output_video_duration: 7 }
  expect(usage).toEqual({ ...seconds, video_count: 1, SR: 720, ratio: '16:9' })
  const row = { id, model: 'vfb-1.1-t2v', state: 'succeeded', seconds: 7, resolution: '720p' }
  expect(await truth(id)).toEqual({ ...row, created_ms: begun, polls: 3 } as ListedTask)
})

test('the video can be downloaded, for a day, and is what was asked for', async () => {
  const id = await create('a video', { resolution: '1080P', duration: 4 })
  clock.time += taskMs
  const url = (await query(id)).output['video_url']!
  const expires = Math.floor(clock.time / 1000) + 86_400
  expect(url).toStartWith(`http://127.0.0.1:${sandbox.port}/media/`)
  expect(new URL(url).pathname).toEndWith('.mp4')
  expect(new URL(url).searchParams.get('Expires')).toBe(String(expires))
  const movie = readMovie(await (await fetch(url)).bytes())
  expect(movie).toMatchObject({ width: 1920, height: 1080, movieSeconds: 4 })
  clock.time += 86_401_000
  expect((await fetch(url)).status).toBe(403)
})

test('the same request has the same video, and another seed another', async () => {
  const ids = [
    await create('same', { seed: 1 }),
    await create('same', { seed: 1 }),
    await create('same', { seed: 2 }),
  ]
  clock.time += taskMs
  const [one, again, other] = await Promise.all(
    ids.map(async (id) => (await query(id)).output['video_url']!),
  )
  expect(new Set(ids).size).toBe(3)
  expect(again).toBe(one!)
  expect(new URL(other!).pathname).not.toBe(new URL(one!).pathname)
})

test('a video handed over counts in what is billed, not in what came out', async () => {
  const media = [{ type: 'reference_video', url: 'https://up.example/a.mp4' }]
  const id = await create('like it', { duration: 6 }, { media })
  clock.time += taskMs
  const { usage } = await query(id)
  const seconds = { duration: 11, input_video_duration: 5, output_video_duration: 6 }
  expect(usage).toMatchObject(seconds)
})

test('every ratio has images of about the same number of samples', async () => {
  const shapes = { '9:16': [720, 1280], '1:1': [960, 960], '4:3': [1112, 832] }
  for (const [ratio, [width, height]] of Object.entries(shapes)) {
    const id = await create('shape', { ratio, duration: 3 })
    clock.time += taskMs
    const { output, usage } = await query(id)
    expect(usage?.['ratio']).toBe(ratio)
    expect(output['video_url']).toContain(`-${width}x${height}-3s.mp4`)
  }
})

test('delay slows the task, not the answer to its create', async () => {
  const id = await create('[[sim:delay=100s]]')
  clock.time += 99_999
  expect(await statusOf(id)).toBe('RUNNING')
  clock.time += 1
  expect(await statusOf(id)).toBe('SUCCEEDED')
})

test('fail: the task ends failed, with the reason in the words of the protocol', async () => {
  const failed = await create('[[sim:fail]]')
  const refused = await create('[[sim:fail=content_policy]]')
  expect(await statusOf(failed)).toBe('PENDING')
  clock.time += taskMs
  const answer = await query(failed)
  expect(answer.output).toMatchObject({ task_status: 'FAILED', code: 'InternalError.Algo' })
  expect('usage' in answer || 'video_url' in answer.output).toBe(false)
  const { output } = await query(refused)
  expect(output).toMatchObject({ task_status: 'FAILED', code: 'DataInspectionFailed' })
  expect((await truth(failed))?.state).toBe('failed')
})

test('flip: succeeded, then failed, then succeeded for good', async () => {
  const id = await create('[[sim:flip]]')
  expect(await statusOf(id)).toBe('PENDING')
  clock.time += taskMs
  const told = [await statusOf(id), await statusOf(id), await statusOf(id), await statusOf(id)]
  expect(told).toEqual(['SUCCEEDED', 'FAILED', 'SUCCEEDED', 'SUCCEEDED'])
})

test('no-usage: the video is there and its usage is not', async () => {
  const id = await create('[[sim:no-usage]]')
  clock.time += taskMs
  const answer = await query(id)
  expect(answer.output['video_url']).toStartWith('http')
  expect('usage' in answer).toBe(false)
})

test('status and leak: the create is refused in the shape of the protocol, without a task', async () => {
  const before = (await listed('')).total
  const codes: [status: number, code: string][] = [
    [400, 'InvalidParameter'],
    [401, 'InvalidApiKey'],
    [403, 'AccessDenied'],
    [429, 'Throttling.RateQuota'],
    [500, 'InternalError'],
    [503, 'ModelUnavailable'],
  ]
  for (const [status, code] of codes) {
    const response = await post(orderOf(`[[sim:status=${status}]]`))
    expect(response.status).toBe(status)
    const request_id = response.headers.get('x-request-id')!
    const message = `The sandbox was told to answer ${status}.`
    expect(await read(response)).toEqual({ code, message, request_id } as never)
  }
  const leaked = await post(orderOf('[[sim:leak]]'))
  expect(leaked.status).toBe(500)
  const { message } = await read(leaked)
  expect(message).toContain(key)
  expect(message).toContain('http://10.12.0.7:8443/internal')
  expect(message).toMatch(/\n {4}at /)
  expect((await listed('')).total).toBe(before)
})

test('hang: a create is never answered and makes nothing; cut: it is made and half told', async () => {
  const before = (await listed('')).total
  const leaving = new AbortController()
  const hung = post(orderOf('[[sim:hang]]'), {}, { signal: leaving.signal }).then(
    () => 'answered',
    () => 'left',
  )
  while (!(await loggedCalls(sandbox)).some(({ status }) => status === 0)) await Bun.sleep(5)
  leaving.abort()
  expect(await hung).toBe('left')
  expect((await listed('')).total).toBe(before)
  const cut = await post(orderOf('[[sim:cut=1]]'))
    .then((response) => response.text())
    .then(
      () => 'whole',
      () => 'broken',
    )
  expect(cut).toBe('broken')
  expect((await listed('')).total).toBe(before + 1)
})

test('a create that does not ask for a task is refused', async () => {
  const response = await post(orderOf('x'), { 'x-dashscope-async': 'no' })
  expect(response.status).toBe(403)
  expect(await read(response)).toMatchObject({
    code: 'AccessDenied',
    message: 'current user api does not support synchronous calls.',
  } as never)
})

test('what is missing or out of bounds is refused', async () => {
  const media = (...types: string[]) => ({
    media: types.map((type) => ({ type, url: 'https://up.example/a.png' })),
  })
  const wrong: object[] = [
    { ...orderOf('x'), model: '' },
    orderOf(''),
    { ...orderOf('x'), model: 'vfa-2.7-i2v' },
    orderOf('x', { resolution: '720p' }),
    orderOf('x', { resolution: '480P' }),
    orderOf('x', { duration: 2 }),
    orderOf('x', { duration: 16 }),
    orderOf('x', { duration: 5.5 }),
    orderOf('x', { duration: '5' }),
    orderOf('x', { seed: -1 }),
    orderOf('x', { seed: 2_147_483_648 }),
    orderOf('x', { ratio: '2:1' }),
    orderOf('x'.repeat(5001)),
    orderOf('x', {}, media('image')),
    orderOf('x', {}, media('first_frame', 'first_frame')),
    orderOf('x', {}, { img_url: 'not an address' }),
  ]
  for (const body of wrong) {
    const response = await post(body)
    expect({ body, status: response.status }).toEqual({ body, status: 400 })
    expect((await read(response)).code).toBe('InvalidParameter')
  }
  const right: object[] = [
    { ...orderOf('x'), parameters: {} },
    { ...orderOf('x', { duration: 2 }), model: 'vfa-2.7-t2v' },
    orderOf('', {}, media('first_frame', 'last_frame')),
    orderOf('x', {}, media('reference_image', 'reference_image')),
    { ...orderOf('x', {}, { img_url: 'data:image/png;base64,AA==' }), model: 'vfb-1.0-i2v' },
  ]
  for (const body of right) expect((await post(body)).status).toBe(200)
})

test('a task that nobody made, or somebody else, is unknown', async () => {
  const id = await create('mine')
  const { output } = await query('no-such-task')
  expect(output).toEqual({ task_id: 'no-such-task', task_status: 'UNKNOWN' })
  expect((await query(id, 'Bearer sk-other')).output['task_status']).toBe('UNKNOWN')
  expect((await truth(id))?.polls).toBe(0)
})

test('a waiting task can be cancelled, once; a running one and an unknown one cannot', async () => {
  const [early, late] = [await create('early'), await create('late')]
  const cancelled = await cancel(early)
  expect(cancelled.status).toBe(200)
  expect(Object.keys(await read(cancelled))).toEqual(['request_id'])
  clock.time += taskMs / 2
  expect(await statusOf(early)).toBe('CANCELED')
  for (const id of [early, late, 'no-such-task']) {
    const refused = await cancel(id)
    expect(refused.status).toBe(400)
    expect((await read(refused)).code).toBe('UnsupportedOperation')
  }
  expect(await statusOf(late)).toBe('RUNNING')
})

test('tasks are listed newest first, in pages, by status and by model', async () => {
  clock.time += 1_000_000
  const first = await create('listed')
  const [second, third] = [await create('listed'), await create('listed')]
  await cancel(second!)
  const page = await listed('page_no=1&page_size=2')
  expect(page.data.map(({ task_id }) => task_id)).toEqual([third!, second!])
  expect(page.total_page).toBe(Math.ceil(page.total / 2))
  expect((await listed('page_no=2&page_size=2')).data[0]?.task_id).toBe(first)
  const pending = await listed('status=PENDING')
  expect(pending.data.map(({ task_id }) => task_id)).toEqual([third!, first])
  expect((await listed('model_name=vfa-9')).total).toBe(0)
  expect((await listed('model_name=vfb-1.1-t2v&page_size=1')).data).toHaveLength(1)
})

test('the call log names the task of a create, and how it stands', async () => {
  const id = await create('logged')
  const rowOf = async () =>
    ((await loggedCalls(sandbox)) as LoggedCreate[]).find((call) => call.task_id === id)
  const row = { protocol: 'vf', model: 'vfb-1.1-t2v', status: 200, finished: true } as const
  expect(await rowOf()).toMatchObject({ ...row, state: 'queued' })
  clock.time += taskMs
  expect((await rowOf())?.state).toBe('succeeded')
  await statusOf(id)
  expect('task_id' in (await loggedCalls(sandbox)).at(-1)!).toBe(false)
})

test('with a key set, any other is refused in the shape of the protocol', async () => {
  const locked = startSandbox({ key: 'sk-right-abcdefghijkl' })
  try {
    const headers = { authorization: 'Bearer sk-wrong-secretmiddle-wxyz' }
    const refused = await fetch(`${locked.protocols.vf}/api/v1/tasks/x`, { headers })
    expect(refused.status).toBe(401)
    const { code, message } = await read(refused)
    expect(code).toBe('InvalidApiKey')
    expect(message).not.toContain('secretmiddle')
  } finally {
    await locked.stop()
  }
})
