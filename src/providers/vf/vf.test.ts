// The three calls over real sockets: what is sent, and the outcome of every kind of reply.
import { afterEach, describe, expect, test } from 'bun:test'
import type { TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { providers } from '../index.ts'
import {
  type Answer,
  begun,
  endings,
  failing,
  openUpstream,
  page,
  reply,
  type TestUpstream,
} from '../tasks/test-upstream.ts'

const { start, check, cancel } = providers.get('vf')!.video!
const opened: TestUpstream[] = []

afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

async function open(...args: Parameters<typeof openUpstream>): Promise<TestUpstream> {
  const made = await openUpstream(...args)
  opened.push(made)
  return made
}

const input: VideoRequest = { prompt: 'a fox ∆', seconds: 5, resolution: '1080p', media: [] }
const created = { output: { task_status: 'PENDING', task_id: 't-1' }, request_id: 'r-1' }
const large = JSON.stringify({ ...created, padding: 'x'.repeat(300_000) })
const deep = `{"output":{"task_id":"t-1","x":${'['.repeat(100)}${']'.repeat(100)}}}`
const { reset, hangUp, breakOff } = endings

describe('a create', () => {
  const begin = async (answer: Answer, more: Partial<TaskUpstream> = {}) =>
    start(input, (await open(answer, more)).upstream, new Cancellation())

  test('is one request with everything the upstream asks for', async () => {
    const { upstream, requests, touches } = await open(reply(200, created), {
      plainModel: 'vfa-2.7-i2v-2026-04-25',
    })
    const media = [
      { kind: 'video', url: 'https://m.example/a.mp4' },
      { kind: 'image', url: 'https://m.example/b.png' },
    ] as const
    const request: VideoRequest = { ...input, seed: 7, ratio: '1:1', media }
    expect(await start(request, upstream, new Cancellation())).toEqual({
      kind: 'started',
      upstreamId: 't-1',
      upstreamRequestId: 'r-1',
    })
    expect(touches()).toBeGreaterThan(0)
    expect(requests).toHaveLength(1)
    const [head = '', body = ''] = requests[0]!.split('\r\n\r\n')
    const [first, ...lines] = head.split('\r\n')
    expect(first).toBe('POST /base/api/v1/services/aigc/video-generation/video-synthesis HTTP/1.1')
    expect(lines.map((line) => line.toLowerCase())).toEqual(
      expect.arrayContaining([
        'authorization: bearer k-secret',
        'x-dashscope-async: enable',
        'content-type: application/json',
        'accept-encoding: identity',
      ]),
    )
    expect(JSON.parse(body)).toEqual({
      model: 'up-model',
      input: {
        prompt: 'a fox ∆',
        media: [
          { type: 'first_clip', url: 'https://m.example/a.mp4' },
          { type: 'last_frame', url: 'https://m.example/b.png' },
        ],
      },
      parameters: { resolution: '1080P', duration: 5, seed: 7, watermark: false },
    })
  })

  test('with media the model cannot take is refused and never sent', async () => {
    const { upstream, requests } = await open(reply(200, created))
    const media = [{ kind: 'image', url: 'https://m.example/b.png' }] as const
    const started = await start({ ...input, media }, upstream, new Cancellation())
    const error = { code: 'upstream_invalid_request' }
    expect(started).toMatchObject({ kind: 'refused', error })
    expect(requests).toHaveLength(0)
  })

  test('answered with another good status has started too', async () => {
    expect(await begin(reply(201, created))).toMatchObject({ kind: 'started' })
  })

  test.each([
    ['400 with an error', reply(400, { code: 'InvalidParameter', message: 'm' })],
    ['409 with an error', reply(409, { code: 'Conflict', message: 'm' })],
    ['400 with an error of another shape', reply(400, { error: { message: 'm' } })],
    ['401 without one', reply(401, '')],
    ['403 with a page', reply(403, page)],
    ['404 with a page', reply(404, page)],
    ['413 with a page', reply(413, page)],
    ['429 without an error', reply(429, '')],
    ['a redirect', reply(302, '', { location: 'https://elsewhere.example/' })],
  ])('is refused by %s', async (_name, answer) => {
    expect(await begin(answer)).toMatchObject({ kind: 'refused' })
  })

  test('refused says why, and for how long', async () => {
    const body = { code: 'Throttling.RateQuota', message: 'slow down', request_id: 'r-2' }
    expect(await begin(reply(429, body, { 'retry-after': '9' }))).toEqual({
      kind: 'refused',
      error: {
        code: 'upstream_rate_limited',
        about: 'key',
        message: 'slow down',
        httpStatus: 429,
        upstreamRequestId: 'r-2',
        retryAfterSeconds: 9,
      },
    })
  })

  const withId = (task_id: unknown) => reply(200, { output: { task_id } })

  const unclear: [string, Answer][] = [
    ['no id', reply(200, { output: { task_status: 'PENDING' }, request_id: 'r' })],
    ['an empty id', withId('')],
    ['an id that is a number', withId(7)],
    ['an id that is a way up', withId('..')],
    ['an id with a line break', withId('a\nb')],
    ['an endless id', withId('x'.repeat(201))],
    ['no output', reply(200, { request_id: 'r' })],
    ['an error with a good status', reply(200, { code: 'InvalidParameter', message: 'm' })],
    ['a page', reply(200, page)],
    ['nothing', reply(200, '')],
    ['too much', reply(200, large)],
    ['too deep a nest', reply(200, deep)],
    ['compression', reply(200, created, { 'content-encoding': 'gzip' })],
    ['400 and a page', reply(400, page)],
    ['408', reply(408, { code: 'RequestTimeOut', message: 'm' })],
    ['303', reply(303, '', { location: '/elsewhere' })],
    ['500', reply(500, { code: 'InternalError', message: 'm' })],
    ['502 and a page', reply(502, page)],
    ['503', reply(503, { code: 'ModelUnavailable', message: 'm' })],
    ['a reset', reset],
    ['a closed connection', hangUp],
    ['half an answer', breakOff],
    ['what is not HTTP', 'SSH-2.0-x\r\n\r\n'],
  ]
  test.each(unclear)('answered with %s may have arrived', async (_name, answer) => {
    const started = await begin(answer)
    expect(started.kind).toBe('unknown')
  })

  test('given up while nothing came may have arrived', async () => {
    const stop = new Cancellation()
    const { upstream } = await open(() => stop.cancel())
    const error = { code: 'upstream_timeout' }
    expect(await start(input, upstream, stop)).toMatchObject({ kind: 'unknown', error })
  })

  test('given up in the middle of the answer may have arrived', async () => {
    const stop = new Cancellation()
    const { upstream } = await open((socket) => socket.write(begun), {
      progress: { touch: () => queueMicrotask(() => stop.cancel()) },
    })
    expect(await start(input, upstream, stop)).toMatchObject({ kind: 'unknown' })
  })

  test('to where nobody listens is refused: nothing was sent', async () => {
    const { upstream, close } = await open(reply(200, created))
    close()
    const error = { code: 'upstream_unreachable' }
    expect(await start(input, upstream, new Cancellation())).toMatchObject({
      kind: 'refused',
      error,
    })
  })

  test('to one that never shakes hands is refused: nothing was sent', async () => {
    const { upstream, requests } = await open(reply(200, created))
    const baseUrl = upstream.baseUrl.replace('http:', 'https:')
    const timeouts = { ...upstream.timeouts, connectMs: 50 }
    const started = await start(input, { ...upstream, baseUrl, timeouts }, new Cancellation())
    expect(started).toMatchObject({ kind: 'refused', error: { code: 'upstream_unreachable' } })
    expect(requests).toHaveLength(0)
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
  const ask = async (answer: Answer, more: Partial<TaskUpstream> = {}) =>
    check('t-1', (await open(answer, more)).upstream, new Cancellation())

  test('is a GET with the id in the address', async () => {
    const output = { task_status: 'RUNNING' }
    const { upstream, requests, touches } = await open(reply(200, { output, request_id: 'r-3' }))
    expect(await check('a/b?c', upstream, new Cancellation())).toEqual({
      kind: 'report',
      report: { state: 'running' },
      upstreamRequestId: 'r-3',
    })
    expect(requests[0]).toStartWith('GET /base/api/v1/tasks/a%2Fb%3Fc HTTP/1.1\r\n')
    expect(requests[0]!.toLowerCase()).toContain('authorization: bearer k-secret')
    expect(touches()).toBeGreaterThan(0)
  })

  test('gets the finished video', async () => {
    const video_url = 'https://out.example/x.mp4?Expires=1767380740'
    const output = { task_id: 't-1', task_status: 'SUCCEEDED', video_url }
    const usage = { duration: 8, input_video_duration: 3, output_video_duration: 5 }
    expect(await ask(reply(200, { output, usage }))).toMatchObject({
      kind: 'report',
      report: {
        state: 'succeeded',
        media: [{ kind: 'video', url: video_url, expiresAtMs: 1_767_380_740_000 }],
        usage: { outputSeconds: 5 },
      },
    })
  })

  test('gets why a task failed', async () => {
    const output = { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' }
    const error = { code: 'content_policy_violation', message: 'no' }
    const report = { state: 'failed', error }
    expect(await ask(reply(200, { output }))).toMatchObject({ kind: 'report', report })
  })

  test.each([
    ['404', reply(404, page)],
    ['UNKNOWN', reply(200, { output: { task_id: 't-1', task_status: 'UNKNOWN' } })],
  ])('answered with %s: the task is missing', async (_name, answer) => {
    const report = { state: 'missing' }
    expect(await ask(answer)).toMatchObject({ kind: 'report', report })
  })

  const done = { output: { task_id: 't-1', task_status: 'SUCCEEDED', video_url: 'https://h/x' } }
  const failures: [string, Answer, string][] = [
    ['500', reply(500, { code: 'InternalError', message: 'm' }), 'upstream_error'],
    ['503 and a task', reply(503, done), 'upstream_error'],
    ['504', reply(504, page), 'upstream_timeout'],
    ['429', reply(429, { code: 'Throttling', message: 'm' }), 'upstream_rate_limited'],
    ['401', reply(401, { code: 'InvalidApiKey' }), 'upstream_permission_denied'],
    ['a redirect', reply(302, done, { location: 'https://h/' }), 'upstream_error'],
    ['a page', reply(200, page), 'upstream_invalid_response'],
    ['a list', reply(200, []), 'upstream_invalid_response'],
    ['no status', reply(200, { output: {} }), 'upstream_invalid_response'],
    ['too much', reply(200, large), 'upstream_invalid_response'],
    ['compression', reply(200, done, { 'content-encoding': 'br' }), 'upstream_invalid_response'],
    [
      'the task of somebody else',
      reply(200, { output: { ...done.output, task_id: 't-2' } }),
      'upstream_invalid_response',
    ],
    ['half an answer', breakOff, 'upstream_error'],
    ['a reset', reset, 'upstream_unreachable'],
    ['what is not HTTP', 'SSH-2.0-x\r\n\r\n', 'upstream_invalid_response'],
  ]
  test.each(failures)('answered with %s has failed', async (_name, answer, code) => {
    expect(await ask(answer)).toMatchObject({ kind: 'failed', error: { code } } as object)
  })

  test('given up has failed', async () => {
    const stop = new Cancellation()
    const { upstream } = await open(() => stop.cancel())
    expect(await check('t-1', upstream, stop)).toMatchObject({ kind: 'failed' })
  })
})

describe('a cancellation', () => {
  const end = async (answer: Answer) =>
    cancel!('t-1', (await open(answer)).upstream, new Cancellation())

  test('is a POST to the task', async () => {
    const { upstream, requests } = await open(reply(200, { request_id: 'r' }))
    expect(await cancel!('t 1', upstream, new Cancellation())).toEqual({ kind: 'cancelled' })
    expect(requests[0]).toStartWith('POST /base/api/v1/tasks/t%201/cancel HTTP/1.1\r\n')
    expect(requests[0]!.toLowerCase()).toContain('authorization: bearer k-secret')
  })

  test('with an empty answer is granted', async () => {
    expect(await end(reply(200, ''))).toEqual({ kind: 'cancelled' })
  })

  const notPending = 'Failed to cancel the task, please confirm if the task is in PENDING status.'
  test.each([
    ['400', reply(400, { code: 'UnsupportedOperation', message: notPending })],
    ['400 in other words', reply(400, { code: 'X', message: 'the task has finished' })],
    ['409', reply(409, '')],
    ['200', reply(200, { code: 'UnsupportedOperation', message: 'm' })],
  ])('that comes too late is refused (%s)', async (_name, answer) => {
    const error = { code: 'task_not_cancellable' }
    expect(await end(answer)).toMatchObject({ kind: 'refused', error })
  })

  const failures: [string, Answer][] = [
    ['a page', reply(200, page)],
    ['compression', reply(200, '{}', { 'content-encoding': 'gzip' })],
    ['a redirect', reply(302, '{}')],
    ['400 about something else', reply(400, { code: 'InvalidParameter', message: 'bad id' })],
    ['401', reply(401, { code: 'InvalidApiKey', message: 'no' })],
    ['404', reply(404, { code: 'NotFound', message: 'no such task' })],
    ['429', reply(429, { code: 'Throttling', message: 'too many running' })],
    ['500', reply(500, { code: 'UnsupportedOperation', message: 'm' })],
    ['a reset', reset],
    ['half an answer', breakOff],
  ]
  test.each(failures)('answered with %s has failed', async (_name, answer) => {
    expect(await end(answer)).toMatchObject({ kind: 'failed' })
  })
})
