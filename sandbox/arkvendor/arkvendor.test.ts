import { afterAll, expect, test } from 'bun:test'
import { readMovie } from '../media/test-mp4.ts'
import { startSandbox } from '../server.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05.678Z') }
const taskMs = 10_000
const sandbox = startSandbox({ taskSeconds: taskMs / 1000, now: () => clock.time })
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

const base = `${sandbox.protocols.arkvendor}/contents/generations/tasks`

async function ask(method: string, rest = '', body?: object, key = 'sk-upstream-0123456789') {
  const response = await fetch(`${base}${rest}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

const orderOf = (text: string, more: object = {}) => ({
  model: 'vidmodel-1-0-pro-250528',
  content: [{ type: 'text', text }],
  ...more,
})

async function create(text: string, more: object = {}): Promise<string> {
  const { status, body } = await ask('POST', '', orderOf(text, more))
  expect({ status, body }).toEqual({ status: 200, body: { id: body.id } })
  return body.id
}

const query = async (id: string) => (await ask('GET', `/${id}`)).body

test('a task waits, runs and ends with a real video of the size told', async () => {
  const id = await create('a boat', { ratio: '21:9', resolution: '480p', duration: 2 })
  expect(id).toMatch(/^cgt-20260102030405-[a-z0-9]{5,70}$/)
  expect(await query(id)).toMatchObject({ id, status: 'queued', error: null })
  clock.time += taskMs / 2
  expect(await query(id)).toMatchObject({ status: 'running' })
  clock.time += taskMs / 2
  const tokens = (960 * 416 * 49) / 1024
  const done = await query(id)
  expect(done).toMatchObject({
    model: 'vidmodel-1-0-pro-250528',
    status: 'succeeded',
    usage: { completion_tokens: tokens, total_tokens: tokens },
    created_at: 1_767_323_045,
    updated_at: 1_767_323_055,
    resolution: '480p',
    ratio: '21:9',
    duration: 2,
    framespersecond: 24,
  })
  const video = await (await fetch(done.content.video_url)).bytes()
  expect(readMovie(video)).toMatchObject({ width: 960, height: 416, movieSeconds: 2 })
})

test.each([
  ['nothing said', '', {}, 246_840],
  ['commands in the text', '--rs 720p --rt 1:1 --dur 3', {}, 65_700],
  ['fields before commands', '--rs 720p --dur 3', { resolution: '1080p', duration: 5 }, 246_840],
  ['wrong commands', '--rs 9p --dur 99 --rt round', {}, 246_840],
  ['frames', '', { frames: 145, ratio: '9:16' }, 295_800],
  ['frames before duration', '', { frames: 145, duration: 5, ratio: '9:16' }, 295_800],
  ['another model', '', { model: 'vidmodel-1-5-pro-251215' }, 108_900],
])('tokens follow size and length: %s', async (_, text, more, tokens) => {
  const id = await create(`a boat ${text}`, more)
  clock.time += taskMs
  expect((await query(id)).usage.total_tokens).toBe(tokens)
})

test('what is wrong is refused in the style of the protocol', async () => {
  const image = (url: string, role?: string) => ({ type: 'image_url', image_url: { url }, role })
  const text = { type: 'text', text: 'x' }
  const png = 'https://up.example/a.png'
  const wrong: object[] = [
    { model: '' },
    { content: [] },
    { content: [{ type: 'song' }] },
    { content: [text, image('a.png')] },
    { content: [text, image(png), image(png)] },
    { model: 'vidmodel-1-0-lite-i2v-250428' },
    { model: 'vidmodel-1-0-lite-t2v-250428', content: [text, image(png)] },
    { resolution: '1080P' },
    { ratio: '2:1' },
    { duration: 13 },
    { duration: -1 },
    { duration: 3, model: 'vidmodel-1-5-pro-251215' },
    { frames: 30 },
    { frames: 293 },
    { seed: -2 },
  ]
  for (const more of wrong) {
    const { status, body } = await ask('POST', '', orderOf('x', more))
    expect({ more, status }).toEqual({ more, status: 400 })
    expect(body.error).toMatchObject({
      code: expect.stringMatching(/^(Invalid|Missing)Parameter/),
      message: expect.stringMatching(/Request id: sbx-/),
      type: 'BadRequest',
    })
  }
  const both = [text, image(png, 'first_frame'), image(png, 'last_frame')]
  for (const more of [
    { content: both },
    { frames: 29 },
    { frames: 289 },
    { seed: 4_294_967_295 },
  ]) {
    await create('x', more)
  }
})

test('a waiting task can be deleted; a running, a finished and an unknown one cannot', async () => {
  const [early, late] = [await create('early'), await create('late')]
  expect(await ask('DELETE', `/${early}`)).toEqual({ status: 200, body: {} })
  expect((await query(early)).status).toBe('cancelled')
  for (const wait of [taskMs / 2, taskMs]) {
    clock.time += wait
    const refused = await ask('DELETE', `/${late}`)
    expect([refused.status, refused.body.error.code]).toEqual([
      409,
      'InvalidAction.RunningTaskDeletion',
    ])
  }
  expect((await ask('DELETE', '/cgt-none')).status).toBe(404)
})

test('directives: fail and no-usage', async () => {
  const [bad, free] = [
    await create('[[sim:fail=content_policy]]'),
    await create('[[sim:no-usage]]'),
  ]
  clock.time += taskMs
  expect(await query(bad)).toMatchObject({
    status: 'failed',
    error: { code: 'OutputVideoSensitiveContentDetected' },
  })
  const done = await query(free)
  expect(done.status).toBe('succeeded')
  expect('usage' in done).toBe(false)
})

test('tasks are listed newest first, of one key only, in pages and by filter', async () => {
  const key = 'sk-lister-0123456789'
  const ids: string[] = []
  for (const model of ['vidmodel-1-0-pro-250528', 'vidmodel-1-0-pro-250528', 'm']) {
    ids.unshift((await ask('POST', '', orderOf('x', { model }), key)).body.id)
  }
  const listed = async (search: string) => {
    const { body } = await ask('GET', search, undefined, key)
    return [body.items.map(({ id }: Body) => id), body.total]
  }
  expect(await listed('')).toEqual([ids, 3])
  expect(await listed('?page_num=2&page_size=2')).toEqual([[ids[2]], 3])
  expect(await listed('?filter.model=m')).toEqual([[ids[0]], 1])
  expect(await listed('?filter.status=succeeded')).toEqual([[], 0])
  const two = `?filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`
  expect(await listed(two)).toEqual([[ids[0], ids[2]], 2])
  expect((await ask('GET', `/${ids[0]}`)).status).toBe(404)
})

test('who the user is said to be is told back, and listed', async () => {
  const order = orderOf('a known boat', { safety_identifier: 'user-7' })
  const { body } = await ask('POST', '', order)
  expect(body).toEqual({ id: body.id, safety_identifier: 'user-7' })
  expect(await query(body.id)).toMatchObject({ safety_identifier: 'user-7' })
  const listed = (await ask('GET', '?page_size=500')).body.items as Body[]
  expect(listed.find(({ id }) => id === body.id)).toMatchObject({ safety_identifier: 'user-7' })
  const long = orderOf('a boat', { safety_identifier: 'u'.repeat(65) })
  expect((await ask('POST', '', long)).status).toBe(400)
})

test('another sandbox tells it too while it is short, whatever the model is called', async () => {
  const another = startSandbox({ now: () => clock.time })
  const askAnother = async (id: string) => {
    const { arkvendor } = another.protocols
    return (await (await fetch(`${arkvendor}/contents/generations/tasks/${id}`)).json()) as Body
  }
  try {
    for (const model of ['vidmodel-1-0-pro-250528', 'vidmodel-1-5-pro', 'vidmodel-2', 'm']) {
      for (const [user, told] of [
        ['user-7', 'user-7'],
        ['u'.repeat(64), undefined],
      ]) {
        const order = orderOf('a boat', { model, safety_identifier: user })
        const { id } = (await ask('POST', '', order)).body
        const { safety_identifier, ...rest } = await query(id)
        expect(safety_identifier).toBe(user)
        const own = told === undefined ? rest : { ...rest, safety_identifier }
        expect(await askAnother(id)).toEqual(own)
      }
    }
  } finally {
    await another.stop()
  }
})
