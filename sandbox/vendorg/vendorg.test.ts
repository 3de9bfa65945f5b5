import { afterAll, describe, expect, test } from 'bun:test'
import { readMovie } from '../media/test-mp4.ts'
import { startSandbox } from '../server.ts'
import type { ListedTask } from '../tasks/task-memory.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05Z') }
const taskMs = 10_000
const sandbox = startSandbox({ taskSeconds: taskMs / 1000, now: () => clock.time })
afterAll(() => sandbox.stop())

interface Body {
  name: string
  done?: boolean
  error?: { code: number; message: string; status?: string }
  response?: {
    generateVideoResponse: {
      generatedSamples?: { video: { uri: string } }[]
      raiMediaFilteredCount?: number
      raiMediaFilteredReasons?: string[]
    }
  }
}

const key = 'upk-0123456789'
const base = `${sandbox.protocols.vendorg}/v1beta`
const headers = (mine = key) => ({ 'x-goog-api-key': mine })
const bodyFor = (prompt: string, instance: object = {}, parameters: object = {}) => ({
  instances: [{ prompt, ...instance }],
  parameters,
})

function post(body: object, model = 'video-3.1') {
  return fetch(`${base}/models/${model}:predictLongRunning`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify(body),
  })
}

const read = async (response: Response) => (await response.json()) as Body
const poll = async (name: string) => read(await fetch(`${base}/${name}`, { headers: headers() }))

async function finished(prompt: string, parameters: object = {}): Promise<Body> {
  const { name } = await read(await post(bodyFor(prompt, {}, parameters)))
  clock.time += taskMs
  return poll(name)
}

const uriOf = ({ response }: Body) =>
  response!.generateVideoResponse.generatedSamples![0]!.video.uri

test('an operation is created, runs without being done, and is done', async () => {
  const created = await post(bodyFor('a fox'))
  expect(created.status).toBe(200)
  const operation = await read(created)
  expect(operation).toEqual({
    name: expect.stringMatching(/^models\/video-3\.1\/operations\/[0-9a-z]{20,90}$/),
  })
  expect(await poll(operation.name)).toEqual(operation)
  clock.time += taskMs / 2
  expect(await poll(operation.name)).toEqual(operation)
  clock.time += taskMs / 2
  const done = await poll(operation.name)
  expect(done).toMatchObject({ name: operation.name, done: true })
  expect(await poll(operation.name.replace(/^models\/[^/]+\//, ''))).toEqual(done)
})

test.each([
  [{}, 1280, 720, 8],
  [{ aspectRatio: '9:16', durationSeconds: 4 }, 720, 1280, 4],
  [{ resolution: '1080p', durationSeconds: 6, sampleCount: 1 }, 1920, 1080, 6],
])(
  'with %j the video is really so, and needs no key',
  async (parameters, width, height, seconds) => {
    const video = await fetch(uriOf(await finished('a video', parameters)))
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    const movie = readMovie(new Uint8Array(await video.arrayBuffer()))
    expect([movie.width, movie.height, movie.trackSeconds]).toEqual([width, height, seconds])
  },
)

test('a video lasts two days', async () => {
  const uri = uriOf(await finished('a short life'))
  clock.time += 47 * 3_600_000
  expect((await fetch(uri)).status).toBe(200)
  clock.time += 2 * 3_600_000
  expect((await fetch(uri)).status).toBe(403)
})

test('an operation fails when told to', async () => {
  expect(await finished('[[sim:fail]]')).toMatchObject({ done: true, error: { code: 13 } })
  const held = await finished('[[sim:fail=content_policy]]')
  expect(held.error).toBeUndefined()
  expect(held.response?.generateVideoResponse).toEqual({
    raiMediaFilteredCount: 1,
    raiMediaFilteredReasons: [expect.any(String)],
  })
})

test('an operation takes as long as it is told to', async () => {
  const { name } = await read(await post(bodyFor('[[sim:delay=60s]]')))
  clock.time += 59_000
  expect((await poll(name)).done).toBeUndefined()
  clock.time += 1_000
  expect((await poll(name)).done).toBe(true)
})

test('only who made an operation can see it', async () => {
  const { name } = await read(await post(bodyFor('mine')))
  for (const [path, mine] of [
    [name, 'upk-other'],
    ['models/video-3.1/operations/nobody', key],
  ]) {
    const answer = await fetch(`${base}/${path}`, { headers: headers(mine!) })
    expect(answer.status).toBe(404)
    expect((await read(answer)).error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
  }
})

describe('a create', () => {
  const bytes = { bytesBase64Encoded: 'aGk=', mimeType: 'image/png' }
  const uri = { uri: 'https://m.example/a.png' }

  test('takes images as bytes', async () => {
    const referenceImages = [{ image: bytes, referenceType: 'asset' }, { image: bytes }]
    const all = { image: bytes, lastFrame: bytes, referenceImages }
    expect((await post(bodyFor('a fox', all))).status).toBe(200)
  })

  test.each<[string, object]>([
    ['no instance', {}],
    ['two instances', { instances: [{ prompt: 'a' }, { prompt: 'b' }] }],
    ['no prompt', bodyFor('')],
    ['a last frame alone', bodyFor('a', { lastFrame: bytes })],
    ['bytes without a type', bodyFor('a', { image: { bytesBase64Encoded: 'aGk=' } })],
    ['an address', bodyFor('a', { image: uri })],
    ['four references', bodyFor('a', { referenceImages: Array(4).fill({ image: bytes }) })],
    ['three seconds', bodyFor('a', {}, { durationSeconds: 3 })],
    ['nine seconds', bodyFor('a', {}, { durationSeconds: 9 })],
    ['another resolution', bodyFor('a', {}, { resolution: '1080P' })],
    ['another ratio', bodyFor('a', {}, { aspectRatio: '1:1' })],
    ['two samples', bodyFor('a', {}, { sampleCount: 2 })],
  ])('with %s is refused', async (_name, body) => {
    const refused = await post(body)
    expect(refused.status).toBe(400)
    expect((await read(refused)).error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  test('is answered with the status it asks for, in the shape of the protocol', async () => {
    const refused = await post(bodyFor('[[sim:status=429]]'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await read(refused)).error).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED' })
  })

  test('is among the tasks of the sandbox', async () => {
    await post(bodyFor('listed', {}, { durationSeconds: 4 }), 'listed-1')
    const { tasks } = (await (await fetch(`${sandbox.url}/_sandbox/tasks`)).json()) as {
      tasks: ListedTask[]
    }
    expect(tasks.find(({ model }) => model === 'listed-1')).toMatchObject({
      state: 'queued',
      seconds: 4,
      resolution: '720p',
    })
  })
})

test('with a key set, any other is refused', async () => {
  const locked = startSandbox({ key })
  try {
    const refused = await fetch(`${locked.protocols.vendorg}/v1beta/operations/x`, {
      headers: headers('upk-wrong-secretmiddle-wxyz'),
    })
    expect(refused.status).toBe(401)
    const { error } = await read(refused)
    expect(error?.status).toBe('UNAUTHENTICATED')
    expect(error?.message).not.toContain('secretmiddle')
  } finally {
    await locked.stop()
  }
})
