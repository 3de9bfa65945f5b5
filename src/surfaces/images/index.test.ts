// Both routes over a real store, with an upstream that says what it is told to.
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { WorkerThread } from '../../lib/worker-thread.ts'
import {
  drawn,
  form,
  type ImageApp,
  json,
  newImageApp,
  png,
  started,
} from '../media/test-image-app.ts'
import { images } from './index.ts'

let app: ImageApp
const files = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) =>
    new URL(request.url).pathname === '/page'
      ? new Response('<html>')
      : new Response(request.url.endsWith('/gone') ? null : png, {
          status: request.url.endsWith('/gone') ? 404 : 200,
        }),
})
const at = (path: string) => `http://127.0.0.1:${files.port}${path}`
const inline = `data:image/png;base64,${Buffer.concat([png, Buffer.alloc(600)]).toString('base64')}`
const basic = { model: 'imga-plus', prompt: 'a boat' }
const imageNanos = 200_000_000n

beforeAll(async () => {
  app = await newImageApp(images)
})
beforeEach(() => {
  app.script.asked = []
  app.script.start = () => drawn(at('/a.png'))
})
afterAll(async () => {
  files.stop(true)
  await app.close()
})

const generate = (fields: object, headers?: Record<string, string>) =>
  app.ask('POST', '/v1/images/generations', json({ ...basic, ...fields }, headers))

/** What a call took from the account. */
async function costOf(work: () => Promise<unknown>): Promise<bigint> {
  const before = await app.balanceNanos()
  await work()
  return before - (await app.balanceNanos())
}

test.each(['/v1/images/generations', '/v1/images/edits'])(
  'a stranger is not let in at %s',
  async (path) => {
    const { status, body } = await app.ask('POST', path, json(basic), `sk-${'c'.repeat(30)}`)
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key'])
  },
)

test('addresses are the gateway’s own, and each picture is charged for', async () => {
  app.script.start = () => drawn(at('/a.png'), at('/b.png'))
  const cost = await costOf(async () => {
    const { status, body } = await generate({ n: 3 })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['created', 'data'])
    expect(body.created).toBe(Math.floor(app.clock.ms / 1_000))
    expect(body.data.map(({ url }: { url: string }) => new URL(url).pathname)).toEqual([
      expect.stringMatching(/^\/files\/image_\w+\/0$/),
      expect.stringMatching(/^\/files\/image_\w+\/1$/),
    ])
  })
  expect(cost).toBe(2n * imageNanos)
  expect(app.script.asked).toEqual([{ prompt: 'a boat', count: 3, media: [], isEdit: false }])
})

test('base64 is what the file holds; what cannot be had is neither given nor paid', async () => {
  app.script.start = () => drawn(at('/gone'), at('/a.png'), at('/page'))
  const cost = await costOf(async () => {
    const { body } = await generate({ n: 3, response_format: 'b64_json' })
    expect(body.data).toEqual([{ b64_json: png.toString('base64') }])
  })
  expect(cost).toBe(imageNanos)
})

test('none that can be fetched is an error that costs nothing', async () => {
  app.script.start = () => drawn(at('/gone'))
  const cost = await costOf(async () => {
    const { status, body } = await generate({ response_format: 'b64_json' })
    expect([status, body.error.code]).toEqual([502, 'result_download_failed'])
  })
  expect(cost).toBe(0n)
})

test('pictures without an address are handed over, and the row does not hold them', async () => {
  app.script.start = () => drawn(inline)
  const { body } = await generate({})
  expect(body.data).toEqual([{ url: inline }])
  const base64 = await generate({ response_format: 'b64_json' })
  expect(base64.body.data).toEqual([{ b64_json: inline.split(',')[1] }])
  const rows = await app.engine.store.read.selectFrom('tasks').select('body').execute()
  for (const row of rows) expect(row.body).not.toContain(inline.slice(0, 300))
})

test('an edit without output says what is usually wrong', async () => {
  app.script.start = () => drawn()
  const fields = {
    ...basic,
    model: 'imga-edit',
    images: [{ image_url: 'https://a.example/a.png' }],
  }
  const { status, body } = await app.ask('POST', '/v1/images/edits', json(fields))
  expect([status, body.error.code]).toEqual([502, 'no_output'])
  expect(body.error.message).toContain('not public')
})

test('an edit by form hands over its files in order', async () => {
  const jpeg = new Blob([Buffer.from('\xff\xd8\xff\xe0', 'latin1')], { type: 'image/jpeg' })
  const parts = [
    ['model', 'imga-edit'],
    ['prompt', 'make it rain'],
    ['image[]', new Blob([png], { type: 'image/png' })],
    ['image[]', jpeg],
    ['image[]', 'https://example.com/c.png'],
  ] as const
  const { status } = await app.ask('POST', '/v1/images/edits', form(parts))
  expect(status).toBe(200)
  expect(app.script.asked[0]).toMatchObject({
    isEdit: true,
    media: [
      { kind: 'image', url: `data:image/png;base64,${png.toString('base64')}` },
      { kind: 'image', url: 'data:image/jpeg;base64,/9j/4A==' },
      { kind: 'image', url: 'https://example.com/c.png' },
    ],
  })
})

test('a large file of a form is written as text in the thread', async () => {
  const threads = spyOn(WorkerThread.prototype, 'run')
  const large = Buffer.concat([png, Buffer.alloc(300_000)])
  const parts = [
    ['model', 'imga-edit'],
    ['prompt', 'x'],
    ['image', new Blob([large], { type: 'image/png' })],
  ] as const
  expect((await app.ask('POST', '/v1/images/edits', form(parts))).status).toBe(200)
  expect(threads).toHaveBeenCalledTimes(1)
  threads.mockRestore()
  const url = app.script.asked.at(-1)!.media[0]!.url
  expect(url === `data:image/png;base64,${large.toString('base64')}`).toBe(true)
})

test('a repeated name in a form is one more picture, and a fourth is too many', async () => {
  const file = ['image', new Blob([png], { type: 'image/png' })] as const
  const words = [
    ['model', 'imga-edit'],
    ['prompt', 'x'],
  ] as const
  const send = (count: number) =>
    app.ask('POST', '/v1/images/edits', form([...words, ...Array(count).fill(file)]))
  expect((await send(3)).status).toBe(200)
  const { status, body } = await send(4)
  expect([status, body.error.code]).toEqual([400, 'too_many_images'])
})

test('generations take no form', async () => {
  const { body } = await app.ask('POST', '/v1/images/generations', form([['prompt', 'x']]))
  expect(body.error.code).toBe('unsupported_media_type')
})

test('a model of another interface is refused by name', async () => {
  const { status, body } = await generate({ model: 'imgvendor-v1' })
  expect([status, body.error.code]).toEqual([400, 'model_not_supported'])
})

test('the same key gives the same pictures, once charged; another body is refused', async () => {
  const key = { 'idempotency-key': 'once' }
  const cost = await costOf(async () => {
    const first = await generate({}, key)
    const again = await generate({}, key)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
  })
  expect(cost).toBe(imageNanos)
  expect(app.script.asked).toHaveLength(1)
  const other = await generate({ prompt: 'a ship' }, key)
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_mismatch'])
  const empty = await generate({}, { 'idempotency-key': 'ü' })
  expect([empty.status, empty.body.error.param]).toEqual([400, 'Idempotency-Key'])
})

test('a replay of pictures that had no address says so', async () => {
  app.script.start = () => drawn(inline)
  const key = { 'idempotency-key': 'inline' }
  await generate({}, key)
  const { status, headers, body } = await generate({}, key)
  expect([status, body.error.code]).toEqual([502, 'result_download_failed'])
  expect(headers.get('x-should-retry')).toBe('false')
})

test('an upstream that takes its time is waited for', async () => {
  app.script.start = started
  app.script.check = () => ({
    kind: 'report',
    report: {
      state: 'succeeded',
      media: [{ kind: 'image', url: at('/a.png') }],
      usage: {},
      raw: {},
    },
    upstreamRequestId: undefined,
  })
  const { body } = await generate({ response_format: 'b64_json' })
  expect(body.data).toEqual([{ b64_json: png.toString('base64') }])
})
