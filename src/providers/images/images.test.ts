// One request over real sockets: what is sent, and the outcome of every kind of reply.
import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import type { TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import { providers } from '../index.ts'
import {
  type Answer,
  begun,
  cut,
  endings,
  failing,
  openUpstream,
  page,
  reply,
  type TestUpstream,
} from '../tasks/test-upstream.ts'

const { start, check, find, cancel } = providers.get('images')!.image!
const opened: TestUpstream[] = []

afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

async function open(answer: Answer, more: Partial<TaskUpstream> = {}): Promise<TestUpstream> {
  const made = await openUpstream(answer, { plainModel: 'imga-plus', ...more })
  opened.push(made)
  return made
}

const input: ImageRequest = { prompt: 'a fox ∆', count: 2, media: [], isEdit: false }
const png = Buffer.from('89504e470d0a1a0a00ff0d0a2d2dfe', 'hex')
const inline = (bytes: Buffer, type = 'image/png') =>
  ({ kind: 'image', url: `data:${type};base64,${bytes.toString('base64')}` }) as const
const at = (url: string) => ({ kind: 'image', url }) as const
const list = {
  created: 1_760_000_000,
  data: [{ url: 'https://m.example/a.png' }, { url: 'https://m.example/b.png' }],
  usage: { total_tokens: 9 },
}

const begin = async (answer: Answer, more: Partial<TaskUpstream> = {}) =>
  start(input, (await open(answer, more)).upstream, new Cancellation())

/** The request as sent upstream. */
async function sent(request: Partial<ImageRequest>, more: Partial<TaskUpstream> = {}) {
  const { upstream, requests, bytes } = await open(reply(200, list), more)
  await start({ ...input, ...request }, upstream, new Cancellation())
  expect(requests).toHaveLength(1)
  return { ...cut(requests[0]!), bytes: bytes[0]! }
}

describe('what is asked', () => {
  test('to draw is one request in JSON', async () => {
    const { line, headers, body } = await sent({ size: { width: 1024, height: 768 }, seed: 7 })
    expect(line).toBe('POST /base/images/generations HTTP/1.1')
    expect(headers).toEqual(
      expect.arrayContaining([
        'authorization: bearer k-secret',
        'content-type: application/json',
        'accept-encoding: identity',
      ]),
    )
    expect(JSON.parse(body)).toEqual({
      model: 'up-model',
      prompt: 'a fox ∆',
      n: 2,
      size: '1024x768',
      response_format: 'url',
      seed: 7,
    })
  })

  test('of models that have no word for it holds no seed and no negative prompt', async () => {
    const more = { seed: 7, negativePrompt: 'rain' }
    const told = await sent(more, { plainModel: 'other' })
    expect(told.body).not.toMatch(/seed|negative/)
    expect(JSON.parse((await sent(more)).body)).toMatchObject({ seed: 7, negative_prompt: 'rain' })
  })

  test.each([
    ['x-image-1', false],
    ['image-1.5', false],
    ['x-image-1-mini', false],
    ['imga-plus', true],
    ['x-image-plus', true],
  ])('of %s names the form of the answer: %p', async (model, names) => {
    expect((await sent({}, { model })).body.includes('response_format')).toBe(names)
  })

  test('to edit pictures by address is JSON with their addresses', async () => {
    const media = [at('https://h.example/a.png'), inline(png)]
    const { line, headers, body } = await sent({ isEdit: true, media })
    expect(line).toBe('POST /base/images/edits HTTP/1.1')
    expect(headers).toContain('content-type: application/json')
    expect(JSON.parse(body)).toMatchObject({
      prompt: 'a fox ∆',
      images: media.map(({ url }) => ({ image_url: url })),
    })
  })

  test('to edit one picture that is at hand is a form with a file', async () => {
    const { line, headers, bytes } = await sent({ isEdit: true, media: [inline(png)], count: 1 })
    expect(line).toBe('POST /base/images/edits HTTP/1.1')
    const form = await formIn(headers, bytes)
    expect(form.get('model')).toBe('up-model')
    expect(form.get('prompt')).toBe('a fox ∆')
    expect(form.get('n')).toBe('1')
    expect(form.get('response_format')).toBe('url')
    const file = form.get('image') as File
    expect([file.name, file.type]).toEqual(['image-1.png', 'image/png'])
    expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
  })

  test('to edit several is a form with all of them, in order', async () => {
    const others = [Buffer.from('one'), Buffer.from('two\r\n--')]
    const media = [inline(png), ...others.map((each) => inline(each, 'image/jpeg'))]
    const { headers, bytes } = await sent({ isEdit: true, media })
    const form = await formIn(headers, bytes)
    expect(form.get('image')).toBeNull()
    const files = form.getAll('image[]') as File[]
    expect(files.map(({ name, type }) => [name, type])).toEqual([
      ['image-1.png', 'image/png'],
      ['image-2.jpeg', 'image/jpeg'],
      ['image-3.jpeg', 'image/jpeg'],
    ])
    const contents = await Promise.all(files.map((file) => file.arrayBuffer()))
    expect(contents.map((each) => Buffer.from(each))).toEqual([png, ...others])
  })

  test('to edit a large one is a form that the thread writes', async () => {
    const threads = spyOn(WorkerThread.prototype, 'run')
    const large = Buffer.alloc(1_000_000, 'picture')
    const { headers, bytes } = await sent(
      { isEdit: true, media: [inline(large)] },
      { queueKey: 'acc_1' },
    )
    expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1'])
    threads.mockRestore()
    const file = (await formIn(headers, bytes)).get('image') as File
    expect(Buffer.from(await file.arrayBuffer()).equals(large)).toBe(true)
  })

  test('with a type that is none says nothing that could end a header', async () => {
    const { headers, bytes } = await sent({ isEdit: true, media: [inline(png, 'x"\r\nA: b')] })
    const file = (await formIn(headers, bytes)).get('image') as File
    expect([file.name, file.type]).toEqual(['image-1.png', 'image/png'])
  })

  test('with a data URI that is not Base64 is refused and never sent', async () => {
    const { upstream, requests } = await open(reply(200, list))
    for (const url of ['data:image/svg+xml,<svg/>', 'data:image/png;base64,none!']) {
      const request = { ...input, isEdit: true, media: [at(url)] }
      const started = await start(request, upstream, new Cancellation())
      expect(started).toMatchObject({
        kind: 'refused',
        error: { code: 'upstream_invalid_request' },
      })
    }
    expect(requests).toHaveLength(0)
  })
})

const formIn = (headers: readonly string[], bytes: Buffer) => {
  const type = headers.find((each) => each.startsWith('content-type: '))!.slice(14)
  const body = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
  return new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
}

describe('what comes', () => {
  test('is delivered at once, by address', async () => {
    expect(await begin(reply(200, list, { 'x-request-id': 'r-1' }))).toEqual({
      kind: 'finished',
      report: {
        state: 'succeeded',
        media: list.data.map(({ url }) => at(url)),
        usage: {},
        raw: { created: list.created, data: [{}, {}], usage: list.usage },
      },
      upstreamRequestId: 'r-1',
    })
  })

  test('as bytes becomes data URIs, of the type the bytes have', async () => {
    const kinds = [
      [png, 'image/png'],
      [Buffer.from('ffd8ffe000', 'hex'), 'image/jpeg'],
      [Buffer.from('RIFF....WEBPVP8 '), 'image/webp'],
      [Buffer.from('GIF89a'), 'image/gif'],
      [Buffer.from('what is this'), 'image/png'],
    ] as const
    const data = kinds.map(([bytes]) => ({
      b64_json: bytes.toString('base64'),
      revised_prompt: 'a red fox',
    }))
    const started = await begin(reply(200, { data }))
    expect(started).toMatchObject({
      report: { media: kinds.map(([bytes, type]) => inline(bytes, type)) },
    })
    // The stored report holds none of the bytes.
    expect(JSON.stringify((started as { report: { raw: unknown } }).report.raw)).toBe(
      JSON.stringify({ data: data.map(() => ({ revised_prompt: 'a red fox' })) }),
    )
  })

  test('may be some megabytes, which a thread reads', async () => {
    const threads = spyOn(WorkerThread.prototype, 'run')
    const b64_json = Buffer.alloc(6_000_000, 1).toString('base64')
    const data = [{ b64_json }, { b64_json: `${b64_json.slice(0, 76)}\n${b64_json.slice(76)}` }]
    const started = await begin(reply(200, { created: 1, data }), { queueKey: 'acc_1' })
    const { media } = (started as unknown as { report: { media: { url: string }[] } }).report
    expect(media.map(({ url }) => url === `data:image/png;base64,${b64_json}`)).toEqual([
      true,
      true,
    ])
    expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1', 'acc_1', 'acc_1'])
    threads.mockRestore()
  })

  test('of many megabytes that are no list of images have an outcome that nobody knows', async () => {
    const many = await begin(reply(200, { data: {}, more: 'x'.repeat(6_000_000) }))
    expect(many.kind).toBe('unknown')
    const deep = await begin(reply(200, `{"data":${'['.repeat(4_000_000)}`))
    expect(deep.kind).toBe('unknown')
  })

  test.each([
    ['an empty entry', [{ url: 'https://m.example/a.png' }, {}], 1],
    ['an address that is none', [{ url: 'javascript:1' }, { url: 'https://h/x' }], 1],
    ['bytes that are none', [{ b64_json: '<html>' }, { b64_json: '' }], 0],
    ['an entry that is no object', [null, 'x', { url: 'https://h/x' }], 1],
    ['no entries', [], 0],
  ])('with %s delivers the others', async (_name, data, delivered) => {
    const started = await begin(reply(200, { data }))
    expect(started).toMatchObject({ kind: 'finished', report: { state: 'succeeded' } })
    const media = started.kind === 'finished' && 'media' in started.report && started.report.media
    expect(media).toHaveLength(delivered)
  })
})

const error = { message: 'm', code: 'x', type: 'y' }

describe('a no', () => {
  test.each([
    [400, { error }, 'upstream_invalid_request'],
    [400, { error: { ...error, code: 'content_policy_violation' } }, 'content_policy_violation'],
    [401, { error }, 'upstream_permission_denied'],
    [403, page, 'upstream_permission_denied'],
    [404, { error: { message: 'model x not found' } }, 'upstream_permission_denied'],
    [413, page, 'upstream_invalid_request'],
    [422, { error }, 'upstream_invalid_request'],
    [429, '', 'upstream_rate_limited'],
    [302, '', 'upstream_error'],
    [500, { error }, 'upstream_error'],
    [503, { error: 'overloaded' }, 'upstream_error'],
    [200, { error }, 'upstream_error'],
    [
      200,
      { error: { code: 'content_filter', message: 'm' }, data: [] },
      'content_policy_violation',
    ],
  ])('%i %j is refused as %s', async (status, body, code) => {
    expect(await begin(reply(status, body))).toMatchObject({ kind: 'refused', error: { code } })
  })

  test('says why, and for how long', async () => {
    const headers = { 'retry-after': '9', 'x-request-id': 'r-2' }
    expect(await begin(reply(429, { error }, headers))).toEqual({
      kind: 'refused',
      error: {
        code: 'upstream_rate_limited',
        about: 'key',
        message: 'm',
        httpStatus: 429,
        upstreamRequestId: 'r-2',
        retryAfterSeconds: 9,
      },
    })
  })
})

describe('an outcome that nobody knows', () => {
  const unclear: [string, Answer][] = [
    ['no list', reply(200, { created: 1 })],
    ['a list that is none', reply(200, { data: { url: 'https://h/x' } })],
    ['a page', reply(200, page)],
    ['nothing', reply(200, '')],
    ['compression', reply(200, list, { 'content-encoding': 'gzip' })],
    ['400 and a page', reply(400, page)],
    ['408', reply(408, { error })],
    ['500 and a page', reply(500, page)],
    ['502 and a page', reply(502, page)],
    ['504', reply(504, { error })],
    ['a reset', endings.reset],
    ['a closed connection', endings.hangUp],
    ['half an answer', endings.breakOff],
    ['what is not HTTP', 'SSH-2.0-x\r\n\r\n'],
  ]
  test.each(unclear)('is that of %s', async (_name, answer) => {
    const { upstream, requests } = await open(answer)
    expect((await start(input, upstream, new Cancellation())).kind).toBe('unknown')
    expect(requests).toHaveLength(1)
  })

  test('is that of silence until it was given up', async () => {
    const stop = new Cancellation()
    const { upstream } = await open(() => stop.cancel())
    expect(await start(input, upstream, stop)).toMatchObject({
      kind: 'unknown',
      error: { code: 'upstream_timeout' },
    })
  })

  test('is that of an answer that was given up in the middle', async () => {
    const stop = new Cancellation()
    const { upstream } = await open((socket) => socket.write(begun), {
      progress: { touch: () => queueMicrotask(() => stop.cancel()) },
    })
    expect(await start(input, upstream, stop)).toMatchObject({ kind: 'unknown' })
  })

  test.each([
    ['unreachable', 'refused'],
    ['tls', 'refused'],
    ['timeout', 'refused'],
    ['broken', 'unknown'],
    ['invalid', 'unknown'],
    ['cancelled', 'unknown'],
  ] as const)('or not: a connection that failed as %s is %s', async (kind, expected) => {
    expect((await begin('', failing(kind))).kind).toBe(expected)
  })
})

test('there is nothing to ask for later, to find or to call off', async () => {
  const { upstream, requests } = await open(reply(200, list))
  expect(await check('x', upstream, new Cancellation())).toEqual({
    kind: 'report',
    report: { state: 'missing' },
    upstreamRequestId: undefined,
  })
  expect(requests).toHaveLength(0)
  expect([find, cancel]).toEqual([undefined, undefined])
})
