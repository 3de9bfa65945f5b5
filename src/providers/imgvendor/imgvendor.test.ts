// Image tasks over real sockets: what is sent, and the outcome of every kind of reply.
import { afterEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
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

const { start, check, find, cancel } = providers.get('imgvendor')!.image!
const opened: TestUpstream[] = []

afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

async function open(answer: Answer, more: Partial<TaskUpstream> = {}): Promise<TestUpstream> {
  const made = await openUpstream(answer, {
    plainModel: 'imgvendor-v2',
    model: 'up-v2',
    marker: 'image_7',
    ...more,
  })
  opened.push(made)
  return made
}

const input: ImageRequest = {
  prompt: 'a fox ∆',
  count: 2,
  media: [],
  isEdit: false,
  native: { path: 'generations', body: { prompt: 'a fox ∆', n: 2, aspect_ratio: '1:1' } },
}
const omni = { plainModel: 'imgvendor-v3-omni', model: 'up-v3-omni' }
const task = (more: object = {}) => ({
  task_id: '801',
  task_status: 'submitted',
  task_info: { external_task_id: 'image_7' },
  created_at: 1_760_000_000_123,
  updated_at: 1_760_000_000_123,
  ...more,
})
const told = (data: unknown, more: object = {}) => ({
  code: 0,
  message: 'success',
  request_id: 'r-1',
  data,
  ...more,
})
const no = (code: unknown, data: unknown = null) => ({
  code,
  message: 'because',
  request_id: 'r-2',
  data,
})

describe('a create', () => {
  const begin = async (answer: Answer, more: Partial<TaskUpstream> = {}) =>
    start(input, (await open(answer, more)).upstream, new Cancellation())

  test('is one request with the task’s own name in it', async () => {
    const { upstream, requests } = await open(reply(200, told(task())))
    expect(await start(input, upstream, new Cancellation())).toEqual({
      kind: 'started',
      upstreamId: '801',
      upstreamRequestId: 'r-1',
    })
    expect(requests).toHaveLength(1)
    const { line, headers, body } = cut(requests[0]!)
    expect(line).toBe('POST /base/v1/images/generations HTTP/1.1')
    expect(headers).toContain('authorization: bearer k-secret')
    expect(headers).toContain('content-type: application/json')
    expect(JSON.parse(body)).toEqual({
      prompt: 'a fox ∆',
      n: 2,
      aspect_ratio: '1:1',
      model_name: 'up-v2',
      external_task_id: 'image_7',
    })
  })

  test('with a pair of keys carries a token that they signed', async () => {
    const { upstream, requests } = await open(reply(200, told(task())), { key: 'the-ak|the-sk' })
    await start(input, upstream, new Cancellation())
    await check('801', upstream, new Cancellation())
    const tokens = requests.map((each) => /^authorization: Bearer (\S+)/im.exec(each)?.[1])
    expect(tokens[1]).toBe(tokens[0])
    const [head = '', claims = '', signature] = tokens[0]!.split('.')
    const expected = createHmac('sha256', 'the-sk').update(`${head}.${claims}`)
    expect(signature).toBe(expected.digest('base64url'))
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).iss).toBe('the-ak')
    expect(requests.join()).not.toContain('the-sk')
  })

  test('of an omni model goes to its path', async () => {
    const { upstream, requests } = await open(reply(200, told(task())), omni)
    await start(input, upstream, new Cancellation())
    expect(cut(requests[0]!).line).toBe('POST /base/v1/images/omni-image HTTP/1.1')
  })

  test('that the model has no use for is refused and never sent', async () => {
    const { upstream, requests } = await open(reply(200, told(task())))
    const native = { path: 'omni-image', body: {} } as const
    const started = await start({ ...input, native }, upstream, new Cancellation())
    expect(started).toMatchObject({ kind: 'refused', error: { code: 'upstream_invalid_request' } })
    expect(requests).toHaveLength(0)
  })

  const refusals: [number[], string, string | undefined][] = [
    [[1000, 1001, 1002, 1003, 1004], 'upstream_permission_denied', 'key'],
    [[1100, 1101, 1102], 'upstream_permission_denied', 'key'],
    [[1103, 1202, 1203], 'upstream_permission_denied', 'model'],
    [[1200, 1201], 'upstream_invalid_request', undefined],
    [[1300, 1301], 'content_policy_violation', undefined],
    [[1302, 1303, 1304], 'upstream_rate_limited', 'key'],
    [[5001], 'upstream_error', undefined],
  ]
  const byCode = refusals.flatMap(([codes, ...rest]) =>
    codes.flatMap((code) => [200, 400, 500].map((status) => [code, status, ...rest] as const)),
  )
  test.each(byCode)('answered with code %i and status %i is refused: %s', async (...row) => {
    const [code, status, word, about] = row
    const started = await begin(reply(status, no(code)))
    expect(started).toEqual({
      kind: 'refused',
      error: {
        code: word as 'upstream_error',
        message: 'because',
        httpStatus: status,
        upstreamRequestId: 'r-2',
        ...(about !== undefined && { about: about as 'key' }),
      },
    })
  })

  test.each([
    [200, 5000, 'upstream_error'],
    [500, 5000, 'upstream_error'],
    [400, 5000, 'upstream_error'],
    [200, 5002, 'upstream_timeout'],
    [504, 5002, 'upstream_timeout'],
    [200, 7777, 'upstream_error'],
    [200, -1, 'upstream_error'],
    [500, 7777, 'upstream_error'],
  ])('answered with status %i and code %i may have arrived: %s', async (status, code, word) => {
    const started = await begin(reply(status, no(code, task())))
    expect(started).toMatchObject({ kind: 'unknown', error: { code: word, message: 'because' } })
  })

  test('refused by a number in quotes is refused too', async () => {
    expect(await begin(reply(200, no('1303')))).toMatchObject({ kind: 'refused' })
  })

  test.each([
    ['400 and a code nobody knows', reply(400, no(7777))],
    ['401 without a body', reply(401, '')],
    ['403 and a page', reply(403, page)],
    ['404 and a page', reply(404, page)],
    ['429 and a page', reply(429, page)],
    ['a redirect', reply(302, '', { location: 'https://elsewhere.example/' })],
  ])('is refused by %s', async (_name, answer) => {
    expect(await begin(answer)).toMatchObject({ kind: 'refused' })
  })

  const unclear: [string, Answer][] = [
    ['no task', reply(200, told(null))],
    ['no id', reply(200, told({ task_status: 'submitted' }))],
    ['an id that is a way up', reply(200, told(task({ task_id: '..' })))],
    ['an id that is a number', reply(200, told(task({ task_id: 801 })))],
    ['a page', reply(200, page)],
    ['nothing', reply(200, '')],
    ['compression', reply(200, told(task()), { 'content-encoding': 'gzip' })],
    ['400 and a page', reply(400, page)],
    ['408', reply(408, { message: 'm' })],
    ['500 without a code', reply(500, { message: 'm' })],
    ['502 and a page', reply(502, page)],
    ['a reset', endings.reset],
    ['a closed connection', endings.hangUp],
    ['half an answer', endings.breakOff],
    ['what is not HTTP', 'SSH-2.0-x\r\n\r\n'],
  ]
  test.each(unclear)('answered with %s may have arrived', async (_name, answer) => {
    const { upstream, requests } = await open(answer)
    expect((await start(input, upstream, new Cancellation())).kind).toBe('unknown')
    expect(requests).toHaveLength(1)
  })

  test('given up while nothing came may have arrived', async () => {
    const stop = new Cancellation()
    const { upstream } = await open(() => stop.cancel())
    const error = { code: 'upstream_timeout' }
    expect(await start(input, upstream, stop)).toMatchObject({ kind: 'unknown', error })
  })

  test.each([
    ['unreachable', 'refused'],
    ['tls', 'refused'],
    ['timeout', 'refused'],
    ['broken', 'unknown'],
    ['invalid', 'unknown'],
    ['cancelled', 'unknown'],
  ] as const)('whose connection failed as %s is %s', async (kind, expected) => {
    expect((await begin('', failing(kind))).kind).toBe(expected)
  })
})

describe('a question', () => {
  const ask = async (answer: Answer) =>
    check('801', (await open(answer)).upstream, new Cancellation())
  const report = async (data: object) => {
    const checked = await ask(reply(200, told(task(data))))
    return checked.kind === 'report' ? checked.report : checked
  }
  const at = (url: string) => ({ kind: 'image', url }) as const
  const [a, b] = [
    { index: 0, url: 'https://m/a' },
    { index: 1, url: 'https://m/b' },
  ]

  test.each([
    [{}, '/base/v1/images/generations/8%2F1'],
    [omni, '/base/v1/images/omni-image/8%2F1'],
    [{ plainModel: 'imgvendor-image-o1' }, '/base/v1/images/omni-image/8%2F1'],
  ])('of %j is asked on the path of its create', async (more, path) => {
    const { upstream, requests } = await open(reply(200, told(task({ task_id: '8/1' }))), more)
    expect(await check('8/1', upstream, new Cancellation())).toEqual({
      kind: 'report',
      report: { state: 'queued' },
      upstreamRequestId: 'r-1',
    })
    expect(cut(requests[0]!).line).toBe(`GET ${path} HTTP/1.1`)
    expect(cut(requests[0]!).headers).toContain('authorization: bearer k-secret')
  })

  test('knows the four states, and takes a fifth for running', async () => {
    expect(await report({})).toEqual({ state: 'queued' })
    expect(await report({ task_status: 'processing' })).toEqual({ state: 'running' })
    const strange = await report({ task_status: 'pondering' })
    expect(strange).toEqual({ state: 'running', unknownStatus: 'pondering' })
  })

  test('gets what was delivered, in order', async () => {
    const task_result = { images: [b, a] }
    const done = { task_status: 'succeed', task_result, final_unit_deduction: '2' }
    expect(await report(done)).toEqual({
      state: 'succeeded',
      media: [at('https://m/a'), at('https://m/b')],
      usage: { images: 2 },
      raw: {
        task_id: '801',
        task_status: 'succeed',
        final_unit_deduction: '2',
        created_at: 1_760_000_000_123,
        updated_at: 1_760_000_000_123,
      },
    })
  })

  test.each([
    ['a series', { result_type: 'series', series_images: [a, b] }, 2],
    ['a series beside its cover', { result_type: 'series', images: [a], series_images: [a, b] }, 2],
    ['a series without a word', { series_images: [a, b], images: [] }, 2],
    ['single pictures', { result_type: 'single', images: [a], series_images: [] }, 1],
    ['a series that is not there', { result_type: 'series', images: [a] }, 1],
    ['less than was asked for', { images: [a] }, 1],
    ['an entry without an address', { images: [{ index: 0 }, { url: 'x' }, b, null] }, 1],
    ['nothing', { images: [] }, 0],
    ['no result', undefined, 0],
  ])('gets %s', async (_name, task_result, delivered) => {
    const told = await report({ task_status: 'succeed', task_result })
    const media = 'media' in told ? told.media : undefined
    expect(media).toHaveLength(delivered)
    expect(told).toMatchObject({ state: 'succeeded', usage: { images: delivered } })
  })

  test.each([
    ['the model broke', 'upstream_error', 'the model broke'],
    ['', 'upstream_error', 'the upstream failed without a reason'],
    ['Failure to pass the risk control system', 'content_policy_violation', undefined],
  ])('gets why a task failed: %p', async (task_status_msg, code, message) => {
    const told = await report({ task_status: 'failed', task_status_msg })
    const error = { code, message: message ?? task_status_msg, upstreamRequestId: 'r-1' }
    expect(told).toMatchObject({ state: 'failed', error })
  })

  test.each([
    ['1203', reply(200, no(1203))],
    ['404 and 1203', reply(404, no(1203))],
    ['404 and a page', reply(404, page)],
  ])('answered with %s: the task is missing', async (_name, answer) => {
    expect(await ask(answer)).toMatchObject({ kind: 'report', report: { state: 'missing' } })
  })

  const done = task({ task_status: 'succeed', task_result: { images: [a] } })
  const failures: [string, Answer, string][] = [
    ['a good status and 1302', reply(200, no(1302, done)), 'upstream_rate_limited'],
    ['a good status and 1004', reply(200, no(1004)), 'upstream_permission_denied'],
    ['a good status and a code nobody knows', reply(200, no(7777, done)), 'upstream_error'],
    ['404 and 1202', reply(404, no(1202)), 'upstream_permission_denied'],
    ['500 and a task', reply(500, told(done)), 'upstream_error'],
    ['a page', reply(200, page), 'upstream_invalid_response'],
    ['a list', reply(200, told([done])), 'upstream_invalid_response'],
    ['another’s task', reply(200, told({ ...done, task_id: '802' })), 'upstream_invalid_response'],
    ['half an answer', endings.breakOff, 'upstream_error'],
    ['a reset', endings.reset, 'upstream_unreachable'],
  ]
  test.each(failures)('answered with %s has failed', async (_name, answer, code) => {
    expect(await ask(answer)).toMatchObject({ kind: 'failed', error: { code } } as object)
  })
})

describe('a create that was cut off', () => {
  const lost = (taken: readonly string[] = []): LostCreate<ImageRequest> => ({
    request: input,
    fromMs: 0,
    untilMs: 1,
    unclaimed: async (ids) => ids.filter((id) => !taken.includes(id)),
  })
  const poll = async (answer: Answer, taken: readonly string[] = []) =>
    find!(lost(taken), (await open(answer)).upstream, new Cancellation())
  const found = (...upstreamIds: string[]) =>
    ({ kind: 'found', by: 'marker', upstreamIds }) as const

  test.each([
    [{}, '/base/v1/images/generations/image_7'],
    [omni, '/base/v1/images/omni-image/image_7'],
  ])('of %j is asked for by its own name', async (more, path) => {
    const { upstream, requests } = await open(reply(200, told(task())), more)
    expect(await find!(lost(), upstream, new Cancellation())).toEqual(found('801'))
    expect(cut(requests[0]!).line).toBe(`GET ${path} HTTP/1.1`)
    expect(requests).toHaveLength(1)
  })

  const none: [string, Answer][] = [
    ['1203', reply(200, no(1203))],
    ['404 and 1203', reply(404, no(1203))],
    ['404', reply(404, page)],
    ['a task of another name', reply(200, told(task({ task_info: { external_task_id: 'x' } })))],
    ['a task without a name', reply(200, told(task({ task_info: {} })))],
    ['a task without an id', reply(200, told(task({ task_id: '' })))],
  ]
  test.each(none)('and answered with %s is not there', async (_name, answer) => {
    expect(await poll(answer)).toEqual(found())
  })

  test('and is another task’s already is not there', async () => {
    expect(await poll(reply(200, told(task())), ['801'])).toEqual(found())
  })

  const unheard: [string, Answer][] = [
    ['1302', reply(200, no(1302))],
    ['1004', reply(401, no(1004))],
    ['5000', reply(500, no(5000))],
    ['a page', reply(200, page)],
    ['a reset', endings.reset],
  ]
  test.each(unheard)('and answered with %s is not known of', async (_name, answer) => {
    expect((await poll(answer)).kind).toBe('failed')
  })
})

test('nothing can be cancelled', () => {
  expect(cancel).toBeUndefined()
})
