// Images over real sockets, by the service that answers at once and by those that make tasks.
import { afterEach, describe, expect, test } from 'bun:test'
import type { LostCreate, TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { providers } from '../index.ts'
import {
  type Answer,
  cut,
  endings,
  failing,
  openUpstream,
  page,
  reply,
  type TestUpstream,
} from '../tasks/test-upstream.ts'

const { start, check, cancel, find } = providers.get('vf')!.image!
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
const media = [
  { kind: 'image', url: 'https://h.example/a.png' },
  { kind: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
] as const
const at = (url: string) => ({ kind: 'image', url }) as const
const said = (...images: unknown[]) => ({
  message: { role: 'assistant', content: images.map((image) => ({ image })) },
})
const answered = (...choices: unknown[]) => ({
  output: { choices },
  usage: { image_count: 2, width: 1328, height: 1328 },
  request_id: 'r-1',
})
const created = { output: { task_status: 'PENDING', task_id: 't-1' }, request_id: 'r-1' }

const begin = async (answer: Answer, more: Partial<TaskUpstream> = {}) =>
  start(input, (await open(answer, more)).upstream, new Cancellation())

async function sent(request: Partial<ImageRequest>, model = 'imga-plus') {
  const { upstream, requests } = await open(reply(200, created), { model })
  await start({ ...input, ...request }, upstream, new Cancellation())
  expect(requests).toHaveLength(1)
  const { line, headers, body } = cut(requests[0]!)
  return { line, headers, body: JSON.parse(body) }
}

const size = { width: 1328, height: 800 }

describe('what is asked', () => {
  test('goes to the service that answers at once, as a conversation', async () => {
    const more = { media, size, seed: 7, negativePrompt: 'rain', isEdit: true }
    const { line, headers, body } = await sent(more)
    expect(line).toBe('POST /base/api/v1/services/aigc/multimodal-generation/generation HTTP/1.1')
    expect(headers).toContain('authorization: bearer k-secret')
    expect(headers.join()).not.toContain('x-dashscope-async')
    const content = [...media.map(({ url }) => ({ image: url })), { text: 'a fox ∆' }]
    expect(body).toEqual({
      model: 'imga-plus',
      input: { messages: [{ role: 'user', content }] },
      parameters: {
        size: '1328*800',
        n: 2,
        watermark: false,
        prompt_extend: true,
        seed: 7,
        negative_prompt: 'rain',
      },
    })
  })

  test('leaves out what the caller left out', async () => {
    const { body } = await sent({})
    expect(body.parameters).toEqual({ n: 2, watermark: false, prompt_extend: true })
  })

  test.each([
    ['x2.2-t2i-plus', 'text2image/image-synthesis'],
    ['x2.5-t2i-preview', 'text2image/image-synthesis'],
    ['imga-t2i', 'text2image/image-synthesis'],
    ['x2.5-i2i-preview', 'image2image/image-synthesis'],
    ['x2.6-t2i', 'multimodal-generation/generation'],
    ['x10.0-t2i', 'multimodal-generation/generation'],
    ['imga-edit', 'multimodal-generation/generation'],
    ['at2i', 'multimodal-generation/generation'],
  ])('of %s goes to %s', async (model, path) => {
    const { line, headers } = await sent({}, model)
    expect(line).toBe(`POST /base/api/v1/services/aigc/${path} HTTP/1.1`)
    expect(headers.includes('x-dashscope-async: enable')).toBe(path.endsWith('synthesis'))
  })

  test('of a service that makes tasks is a prompt, with pictures beside it', async () => {
    const drawn = await sent({ size, negativePrompt: 'rain' }, 'imga-t2i')
    expect(drawn.body).toEqual({
      model: 'imga-t2i',
      input: { prompt: 'a fox ∆', negative_prompt: 'rain' },
      parameters: { size: '1328*800', n: 2, watermark: false, prompt_extend: true },
    })
    const edited = await sent({ media, isEdit: true }, 'imga-i2i')
    expect(edited.body.input).toEqual({ prompt: 'a fox ∆', images: media.map(({ url }) => url) })
  })

  test('with pictures of a service that takes none is refused and never sent', async () => {
    const { upstream, requests } = await open(reply(200, created), { model: 'imga-t2i' })
    const started = await start({ ...input, media }, upstream, new Cancellation())
    expect(started).toMatchObject({ kind: 'refused', error: { code: 'upstream_invalid_request' } })
    expect(requests).toHaveLength(0)
  })
})

describe('an answer at once', () => {
  test('delivers every picture, with the moment its address ends', async () => {
    const url = 'https://out.example/a.png?Expires=1767380740'
    const body = answered(said(url), said('https://out.example/b.png'))
    expect(await begin(reply(200, body))).toEqual({
      kind: 'finished',
      report: {
        state: 'succeeded',
        media: [{ ...at(url), expiresAtMs: 1_767_380_740_000 }, at('https://out.example/b.png')],
        usage: { images: 2 },
        raw: body.usage,
      },
      upstreamRequestId: 'r-1',
    })
  })

  test.each([
    ['several pictures in one choice', [said('https://h/a', 'https://h/b')], 2],
    ['a picture inline', [said('data:image/png;base64,iVBORw0KGgo=')], 1],
    ['less than was asked for', [said('https://h/a')], 1],
    ['text instead', [{ message: { content: [{ text: 'no' }] } }], 0],
    ['an address that is none', [said('ftp://h/a', '', 7)], 0],
    ['no choices', [], 0],
    ['choices that are none', [null, 'x', {}], 0],
  ])('with %s delivers what is there', async (_name, choices, delivered) => {
    const started = await begin(reply(200, answered(...choices)))
    const report = started.kind === 'finished' && started.report
    expect(report && 'media' in report && report.media).toHaveLength(delivered)
    expect(report && 'usage' in report && report.usage).toEqual({ images: delivered })
  })

  test('that names a task is followed as one', async () => {
    expect(await begin(reply(200, created))).toEqual({
      kind: 'started',
      upstreamId: 't-1',
      upstreamRequestId: 'r-1',
    })
  })

  test.each([
    [400, 'InvalidParameter', 'upstream_invalid_request'],
    [400, 'DataInspectionFailed', 'content_policy_violation'],
    [401, 'InvalidApiKey', 'upstream_permission_denied'],
    [403, 'AccessDenied', 'upstream_permission_denied'],
    [404, 'ModelNotFound', 'upstream_permission_denied'],
    [429, 'Throttling.RateQuota', 'upstream_rate_limited'],
    [500, 'InternalError', 'upstream_error'],
    [503, 'ModelUnavailable', 'upstream_error'],
    [200, 'DataInspectionFailed', 'content_policy_violation'],
  ])('that says no by %i %s is a refusal: %s', async (status, word, code) => {
    const body = { code: word, message: 'm', request_id: 'r-2' }
    expect(await begin(reply(status, body))).toMatchObject({
      kind: 'refused',
      error: { code, message: 'm', upstreamRequestId: 'r-2' },
    })
  })

  const unclear: [string, Answer][] = [
    ['no output', reply(200, { request_id: 'r' })],
    ['neither pictures nor a task', reply(200, { output: { task_status: 'PENDING' } })],
    ['a page', reply(200, page)],
    ['compression', reply(200, answered(), { 'content-encoding': 'gzip' })],
    ['400 and a page', reply(400, page)],
    ['408', reply(408, { code: 'RequestTimeOut', message: 'm' })],
    ['502 and a page', reply(502, page)],
    ['504', reply(504, { code: 'InternalError.Timeout', message: 'm' })],
    ['a reset', endings.reset],
    ['a closed connection', endings.hangUp],
    ['half an answer', endings.breakOff],
  ]
  test.each(unclear)('of %s leaves the outcome unknown', async (_name, answer) => {
    const { upstream, requests } = await open(answer)
    expect((await start(input, upstream, new Cancellation())).kind).toBe('unknown')
    expect(requests).toHaveLength(1)
  })

  test('that never came leaves the outcome unknown', async () => {
    const stop = new Cancellation()
    const { upstream } = await open(() => stop.cancel())
    const error = { code: 'upstream_timeout' }
    expect(await start(input, upstream, stop)).toMatchObject({ kind: 'unknown', error })
  })

  test.each([
    ['unreachable', 'refused'],
    ['broken', 'unknown'],
  ] as const)('whose connection failed as %s is %s', async (kind, expected) => {
    expect((await begin('', failing(kind))).kind).toBe(expected)
  })
})

describe('a task', () => {
  const model = 'imga-t2i'

  test('is begun', async () => {
    expect(await begin(reply(200, created), { model })).toMatchObject({ kind: 'started' })
  })

  test.each([
    [400, 'InvalidParameter', 'refused'],
    [429, 'Throttling', 'refused'],
    [500, 'InternalError', 'unknown'],
    [200, 'InvalidParameter', 'unknown'],
  ])('whose create is answered with %i %s is %s', async (status, code, kind) => {
    const answer = reply(status, { code, message: 'm' })
    expect(await begin(answer, { model })).toMatchObject({ kind })
  })

  const ask = async (output: object, usage?: object) => {
    const { upstream, requests } = await open(reply(200, { output, usage }), { model })
    const checked = await check('t-1', upstream, new Cancellation())
    expect(requests[0]).toStartWith('GET /base/api/v1/tasks/t-1 HTTP/1.1\r\n')
    return checked.kind === 'report' ? checked.report : checked
  }
  const failed = { code: 'InternalError.Timeout', message: 'too slow' }
  const done = { task_id: 't-1', task_status: 'SUCCEEDED' }

  test('is asked about like a video', async () => {
    expect(await ask({ task_id: 't-1', task_status: 'RUNNING' })).toEqual({ state: 'running' })
    expect(await ask({ task_id: 't-1', task_status: 'UNKNOWN' })).toEqual({ state: 'missing' })
    expect(await ask({ ...done, task_id: 't-2' })).toMatchObject({ kind: 'failed' })
  })

  test('delivers what was made of it, and leaves out what failed', async () => {
    const results = [{ url: 'https://h/a' }, failed, { url: 'https://h/b', orig_prompt: 'x' }]
    expect(await ask({ ...done, results }, { image_count: 2 })).toEqual({
      state: 'succeeded',
      media: [at('https://h/a'), at('https://h/b')],
      usage: { images: 2 },
      raw: { image_count: 2 },
    })
  })

  test('may deliver as a conversation', async () => {
    const choices = [said('https://h/a'), said('https://h/b')]
    expect(await ask({ ...done, choices })).toMatchObject({ media: [{}, {}] })
  })

  test('of which every picture failed has failed, for the first reason', async () => {
    const refused = { code: 'DataInspectionFailed', message: 'no' }
    expect(await ask({ ...done, results: [refused, failed] })).toMatchObject({
      state: 'failed',
      error: { code: 'content_policy_violation', message: 'no' },
      raw: refused,
    })
  })

  test('that is done and delivered nothing says so', async () => {
    expect(await ask({ ...done, results: [] })).toMatchObject({ state: 'succeeded', media: [] })
    expect(await ask(done)).toMatchObject({ state: 'succeeded', media: [] })
  })

  test('that failed says why', async () => {
    const error = { code: 'upstream_error', message: 'too slow' }
    const report = await ask({ task_id: 't-1', task_status: 'FAILED', ...failed })
    expect(report).toMatchObject({ state: 'failed', error })
  })

  test('is cancelled like a video', async () => {
    const { upstream, requests } = await open(reply(200, { request_id: 'r' }))
    expect(await cancel!('t-1', upstream, new Cancellation())).toEqual({ kind: 'cancelled' })
    expect(requests[0]).toStartWith('POST /base/api/v1/tasks/t-1/cancel HTTP/1.1\r\n')
  })
})

describe('a create that was cut off', () => {
  const nowMs = Date.parse('2026-01-02T03:04:05+08:00')
  const lost = (more: Partial<ImageRequest> = {}): LostCreate<ImageRequest> => ({
    request: { ...input, ...more },
    fromMs: nowMs - 60_000,
    untilMs: nowMs + 60_000,
    unclaimed: async (ids) => ids,
  })
  const row = { task_id: 't-1', status: 'SUCCEEDED', gmt_create: nowMs }
  const account = (orig_prompt: string, more: object = {}) => ({
    output: {
      task_id: 't-1',
      task_status: 'SUCCEEDED',
      results: [
        { code: 'X', message: 'm' },
        { url: 'https://h/a', orig_prompt },
      ],
    },
    ...more,
  })

  async function poll(told: object, request: Partial<ImageRequest> = {}, model = 'imga-t2i') {
    const data = [{ ...row, model_name: model }]
    const list = reply(200, { data })
    const asked: string[] = []
    const { upstream, requests } = await open(
      (socket) => {
        asked.push(requests.at(-1)!.split(' ')[1]!)
        socket.write(asked.length === 1 ? list : reply(200, told))
      },
      { model },
    )
    return { found: await find!(lost(request), upstream, new Cancellation()), asked }
  }
  const found = (...upstreamIds: string[]) => ({ kind: 'found', by: 'likeness', upstreamIds })

  test('is found by what it was asked to draw', async () => {
    const { found: told, asked } = await poll(account(input.prompt))
    expect(told).toEqual(found('t-1') as typeof told)
    expect(asked[1]).toBe('/base/api/v1/tasks/t-1')
  })

  test.each([
    ['another prompt', account('a wolf'), {}],
    ['another number of pictures', account(input.prompt), { count: 3 }],
    ['another size', account(input.prompt, { usage: { width: 1, height: 800 } }), { size }],
    ['no result', { output: { task_id: 't-1', task_status: 'SUCCEEDED' } }, {}],
    ['another id', { output: { ...account(input.prompt).output, task_id: 't-2' } }, {}],
  ])('is not taken for one with %s', async (_name, told, request) => {
    expect((await poll(told, request)).found).toMatchObject({ upstreamIds: [] })
  })

  test('of a service that answers at once is not looked for', async () => {
    const { found: told, asked } = await poll(account(input.prompt), {}, 'imga-plus')
    expect(told).toEqual(found() as typeof told)
    expect(asked).toEqual([])
  })
})
