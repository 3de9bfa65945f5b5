// The routes over a real store: what goes up, who sees what, and what is asked twice.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type ImageApp, json, newImageApp, secrets, started } from '../media/test-image-app.ts'
import { imgvendor } from './index.ts'
import { imageTask } from './test-task.ts'

const generations = '/imgvendor/v1/images/generations'
const omniImage = '/imgvendor/v1/images/omni-image'
const image = 'https://example.com/a.png'

let app: ImageApp
beforeAll(async () => {
  app = await newImageApp(imgvendor)
})
beforeEach(() => {
  app.script.asked = []
  app.script.start = started
})
afterAll(() => app.close())

const create = (path: string, fields: object, headers?: Record<string, string>, secret?: string) =>
  app.ask('POST', path, json({ prompt: 'a boat', ...fields }, headers), secret)
const poll = (path: string, secret?: string) => app.ask('GET', path, {}, secret)
const codes = ({ status, body }: Awaited<ReturnType<typeof poll>>) => [
  status,
  body.code,
  body.error.code,
]

test('a create is answered in the envelope, with what the query shows later', async () => {
  const { body, headers } = await create(generations, { external_task_id: 'job-17' })
  expect(body).toEqual({
    code: 0,
    message: 'success',
    request_id: headers.get('x-gateway-request-id'),
    data: {
      task_id: expect.stringMatching(/^image_\w+$/),
      task_status: 'submitted',
      task_info: { external_task_id: 'job-17' },
      created_at: app.clock.ms,
      updated_at: app.clock.ms,
    },
  })
  for (const id of [body.data.task_id, 'job-17']) {
    for (const path of [generations, omniImage]) {
      expect((await poll(`${path}/${id}`)).body.data).toEqual(body.data)
    }
  }
})

test('an external id may be any text', async () => {
  const id = 'job 17/a?b#ü'
  const { body } = await create(generations, { external_task_id: id })
  const seen = await poll(`${generations}/${encodeURIComponent(id)}`)
  expect(seen.body.data.task_id).toBe(body.data.task_id)
})

test('fields that are known go up, and who is to be told does not', async () => {
  const fields = {
    model_name: 'imgvendor-v1-5',
    image: `data:image/png;base64,iVBORw0KGgo=`,
    image_reference: 'face',
    image_fidelity: 0.5,
    human_fidelity: 1,
    resolution: '2k',
    n: 3,
    aspect_ratio: '1:1',
    watermark_info: { enabled: false, text: 'mine' },
    callback_url: 'https://example.com/hook',
    external_task_id: 'job-18',
    base_url: 'https://evil.example',
    api_key: 'k',
  }
  const { body } = await create(generations, fields)
  expect(app.script.asked).toEqual([
    {
      prompt: 'a boat',
      count: 3,
      media: [{ kind: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' }],
      isEdit: false,
      native: {
        path: 'generations',
        body: {
          prompt: 'a boat',
          image: 'iVBORw0KGgo=',
          image_reference: 'face',
          image_fidelity: 0.5,
          human_fidelity: 1,
          resolution: '2k',
          aspect_ratio: '1:1',
          watermark_info: { enabled: false, text: 'mine' },
          n: 3,
        },
      },
    },
  ])
  expect(await app.row(body.data.task_id)).toMatchObject({
    externalId: 'job-18',
    callbackUrl: 'https://example.com/hook',
  })
})

test('base64 may have blanks and line ends, with and without its kind', async () => {
  for (const image of ['iVBO\nRw0K\r\nGgo=\n', ' data:image/png;base64,iVBORw0K\nGgo=']) {
    await create(generations, { image })
  }
  expect(app.script.asked.map(({ native }) => native?.body['image'])).toEqual([
    'iVBORw0KGgo=',
    'iVBORw0KGgo=',
  ])
})

test('what nobody says is what the table says', async () => {
  await create(generations, {})
  await create(omniImage, {})
  const usual = { prompt: 'a boat', resolution: '1k', n: 1 }
  expect(app.script.asked.map(({ native }) => native?.body)).toEqual([
    { ...usual, aspect_ratio: '16:9' },
    { ...usual, aspect_ratio: 'auto' },
  ])
})

test('image-o1 goes to the other path, in that path’s words', async () => {
  const fields = { model_name: 'imgvendor-image-o1', image: image, n: 2 }
  await create(generations, fields)
  expect(app.script.asked[0]).toMatchObject({ count: 2, media: [{ url: image }] })
  expect(app.script.asked[0]?.native).toEqual({
    path: 'omni-image',
    body: {
      prompt: 'a boat',
      image_list: [{ image: image }],
      resolution: '1k',
      aspect_ratio: '16:9',
      n: 2,
    },
  })
})

test.each([
  [
    { result_type: 'series', series_amount: 4, n: 2 },
    4,
    { result_type: 'series', series_amount: 4 },
  ],
  [
    { result_type: 'series', series_amount: 'auto' },
    9,
    { result_type: 'series', series_amount: 'auto' },
  ],
  [{ result_type: 'series' }, 9, { result_type: 'series' }],
  [{ result_type: 'single', series_amount: 4, n: 2 }, 2, { n: 2 }],
])('%j holds for %d pictures', async (fields, count, sent) => {
  await create(omniImage, fields)
  expect(app.script.asked[0]?.count).toBe(count)
  const { prompt: _, resolution: _r, aspect_ratio: _a, ...rest } = app.script.asked[0]!.native!.body
  expect(rest).toEqual(sent)
})

test('a row does not hold the picture that was sent', async () => {
  const image = 'A'.repeat(20_000)
  const { body } = await create(generations, { image })
  expect(app.script.asked[0]?.native?.body['image']).toBe(image)
  expect(JSON.stringify((await app.row(body.data.task_id)).request)).not.toContain('AAAAAAAA')
})

test('an external id is unique in its account, and means nothing in another', async () => {
  await create(generations, { external_task_id: 'twice' })
  const again = await create(omniImage, { external_task_id: 'twice' })
  expect(codes(again)).toEqual([400, 1201, 'invalid_request'])
  expect(again.body.error.param).toBe('external_task_id')
  expect(codes(await poll(`${generations}/twice`, secrets.other))).toEqual([
    404,
    1203,
    'task_not_found',
  ])
  const others = await create(generations, { external_task_id: 'twice' }, {}, secrets.other)
  expect(others.body.code).toBe(0)
  const seen = await poll(`${generations}/twice`, secrets.other)
  expect(seen.body.data.task_id).toBe(others.body.data.task_id)
})

test('a foreign task, one of another interface and none look the same', async () => {
  const { body } = await create(generations, {})
  await app.keep(imageTask({ id: 'image_0sync', interface: 'images', upstreamId: 'up-sync' }))
  await app.keep(imageTask({ id: 'image_0away', hidden: true, upstreamId: 'up-away' }))
  const lookups = [
    [body.data.task_id, secrets.other],
    ...['image_0sync', 'image_0away', 'nothing', 'constructor', '%00'].map((id) => [id]),
  ] as [string, string?][]
  for (const [id, secret] of lookups) {
    const answer = await poll(`${generations}/${id}`, secret)
    expect(codes(answer)).toEqual([404, 1203, 'task_not_found'])
  }
})

test.each([
  ['POST', ''],
  ['GET', ''],
  ['GET', '/image_1'],
])('a stranger is not let in by %s %p, nor who brings nothing', async (method, rest) => {
  for (const path of [generations, omniImage]) {
    const bad = await app.ask(method, path + rest, {}, `sk-${'c'.repeat(30)}`)
    expect(codes(bad)).toEqual([401, 1002, 'invalid_api_key'])
    const none = await app.ask(method, path + rest, {}, '')
    expect(codes(none)).toEqual([401, 1001, 'invalid_api_key'])
  }
})

test('a body that is no JSON is refused in the envelope', async () => {
  const init = { body: '{', headers: { 'content-type': 'application/json' } }
  expect(codes(await app.ask('POST', generations, init))).toEqual([400, 1200, 'invalid_json'])
})

test('what an upstream refuses comes in the envelope, never as a success', async () => {
  app.script.start = () => ({
    kind: 'refused',
    error: { code: 'content_policy_violation', message: 'not that' },
  })
  const { status, body } = await create(generations, {})
  expect([status, body.code, body.error.code]).toEqual([400, 1301, 'content_policy_violation'])
  expect(body.message).toContain('not that')
})

test('a list shows the account’s own image tasks, newest first, page by page', async () => {
  for (const at of [1, 2, 3]) {
    const id = `image_zz${at}`
    await app.keep(imageTask({ id, upstreamId: id, createdAtMs: at }), 'other')
  }
  await app.keep(imageTask({ id: 'image_zzsync', interface: 'images', upstreamId: 's' }), 'other')
  const page = async (query: string) => {
    const { body } = await poll(`${generations}${query}`, secrets.other)
    return body.data.map(({ task_id: id }: { task_id: string }) => id)
  }
  expect((await page('')).slice(0, 3)).toEqual(['image_zz3', 'image_zz2', 'image_zz1'])
  expect(await page('?pageNum=2&pageSize=2')).toContain('image_zz1')
  expect(await page('?pageSize=1')).toEqual(['image_zz3'])
  expect(await page('?pageNum=1000&pageSize=500')).toEqual([])
  expect(await page('')).not.toContain('image_zzsync')
})

test('thirty are a page when nobody says', async () => {
  for (let at = 10; at < 42; at++) {
    const id = `image_y${at}`
    await app.keep(imageTask({ id, upstreamId: id }))
  }
  expect((await poll(omniImage)).body.data).toHaveLength(30)
})

test.each(['pageNum=0', 'pageNum=1001', 'pageSize=0', 'pageSize=501', 'pageSize=x', 'pageNum=1.5'])(
  'there is no page %s',
  async (query) => {
    const answer = await poll(`${generations}?${query}`)
    expect(codes(answer)).toEqual([400, 1201, 'invalid_request'])
    expect(answer.body.error.param).toBe(query.split('=')[0])
  },
)

test('the same key creates once; with another body it is refused', async () => {
  const key = { 'idempotency-key': 'once' }
  const first = await create(generations, { n: 2 }, key)
  const again = await create(generations, { n: 2 }, key)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body.data).toEqual(first.body.data)
  expect(app.script.asked).toHaveLength(1)
  const other = await create(generations, { n: 3 }, key)
  expect(codes(other)).toEqual([422, 1201, 'idempotency_mismatch'])
  const named = await create(generations, { n: 2, external_task_id: 'named' }, key)
  expect(codes(named)).toEqual([422, 1201, 'idempotency_mismatch'])
  const elsewhere = await create(omniImage, { n: 2 }, key)
  expect(elsewhere.headers.get('idempotent-replayed')).toBeNull()
})
