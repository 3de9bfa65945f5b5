// The provider over real HTTP: one create, its polls, and the outcome of invalid replies.
import { afterAll, describe, expect, test } from 'bun:test'
import type { TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { createHttpClient } from '../../lib/http/client.ts'
import { HttpError, type HttpErrorKind } from '../../lib/http/error.ts'
import { vendorg } from './index.ts'

interface Reply {
  status?: number
  body?: unknown
  headers?: Record<string, string>
}

interface Asked {
  method: string
  path: string
  headers: Headers
  body: string
}

let reply: Reply = {}
let asked: Asked[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    asked.push({ method, path: pathname + search, headers, body: await request.text() })
    const { status = 200, body = '' } = reply
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return new Response(text, { status, headers: reply.headers ?? {} })
  },
})
const http = createHttpClient()
afterAll(() => {
  http.close()
  server.stop(true)
})

const usual: TaskUpstream = {
  baseUrl: `http://127.0.0.1:${server.port}/base`,
  key: 'k-secret',
  model: 'up-model-3.1',
  plainModel: 'vendorg-video-1',
  timeouts: { connectMs: 5000, firstByteMs: 5000, idleMs: 5000, totalMs: 5000 },
  messages: { headers: 'both', auth: 'both' },
  http,
  progress: { touch() {} },
  marker: 'video_marker',
  fetchMedia: async (url) =>
    url.includes('gone')
      ? { problem: 'it is gone' }
      : { bytes: Buffer.from(url), mimeType: 'image/png' },
}
const input: VideoRequest = {
  prompt: 'a fox ∆',
  seconds: 8,
  resolution: '720p',
  ratio: '16:9',
  media: [],
}
const name = 'models/up-model-3.1/operations/abc-1_x'
const { start, check, cancel } = vendorg.video!

function begin(given: Reply, more: Partial<TaskUpstream> = {}) {
  reply = given
  asked = []
  return start(input, { ...usual, ...more }, new Cancellation())
}

function poll(given: Reply, more: Partial<TaskUpstream> = {}) {
  reply = given
  asked = []
  return check(name, { ...usual, ...more }, new Cancellation())
}

const failing = (kind: HttpErrorKind): Pick<TaskUpstream, 'http'> => {
  const call = () => ({ answer: Promise.reject(new HttpError(kind, 'x')), cancel() {} })
  return { http: { post: call, get: call, delete: call } }
}

const refusal = (code: number, status: string, message = 'm') => ({
  error: { code, message, status },
})
const large = JSON.stringify({ name, padding: 'x'.repeat(300_000) })

test('nothing can be cancelled', () => {
  expect(cancel).toBeUndefined()
})

describe('a create', () => {
  test('is one request with the key in its own header', async () => {
    expect(await begin({ body: { name } })).toEqual({
      kind: 'started',
      upstreamId: name,
      upstreamRequestId: undefined,
    })
    expect(asked).toHaveLength(1)
    const { method, path, headers, body } = asked[0]!
    expect([method, path]).toEqual(['POST', '/base/v1beta/models/up-model-3.1:predictLongRunning'])
    expect(headers.get('x-goog-api-key')).toBe('k-secret')
    expect(headers.get('authorization')).toBeNull()
    expect(headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(body)).toEqual({
      instances: [{ prompt: 'a fox ∆' }],
      parameters: {
        durationSeconds: 8,
        resolution: '720p',
        aspectRatio: '16:9',
        sampleCount: 1,
      },
    })
  })

  test('with what the model cannot take is refused and never sent', async () => {
    asked = []
    const media = [{ kind: 'video', url: 'https://m.example/a.mp4' }] as const
    const started = await start({ ...input, media }, usual, new Cancellation())
    expect(started).toMatchObject({ kind: 'refused', error: { code: 'upstream_invalid_request' } })
    expect(asked).toHaveLength(0)
  })

  test('with a picture that cannot be fetched is refused, names it, and is never sent', async () => {
    asked = []
    const url = 'https://m.example/gone.png'
    const media = [{ kind: 'image', url, role: 'last_frame' }] as const
    const started = await start({ ...input, media }, usual, new Cancellation())
    const message = `the last frame ${url} could not be fetched: it is gone`
    expect(started).toMatchObject({
      kind: 'refused',
      error: { code: 'upstream_invalid_request', message },
    })
    expect(asked).toHaveLength(0)
  })

  const denied = 'upstream_permission_denied'
  test.each([
    [400, refusal(400, 'INVALID_ARGUMENT', 'bad ratio'), 'upstream_invalid_request', undefined],
    [400, refusal(400, 'INVALID_ARGUMENT', 'API key not valid.'), denied, 'key'],
    [
      400,
      refusal(400, 'INVALID_ARGUMENT', 'This goes against our Responsible AI practices.'),
      'content_policy_violation',
      undefined,
    ],
    [400, refusal(400, 'FAILED_PRECONDITION', 'enable billing'), denied, 'key'],
    [401, '', denied, 'key'],
    [403, refusal(403, 'PERMISSION_DENIED'), denied, 'key'],
    [404, refusal(404, 'NOT_FOUND', 'models/x is not found for v1beta'), denied, 'model'],
    [413, '<html>', 'upstream_invalid_request', undefined],
    [429, refusal(429, 'RESOURCE_EXHAUSTED'), 'upstream_rate_limited', 'key'],
    [429, '', 'upstream_rate_limited', 'key'],
  ] as const)(
    'answered with %p %j is refused as %s, about %p',
    async (status, body, code, about) => {
      const started = await begin({ status, body })
      expect(started).toMatchObject({ kind: 'refused', error: { code, httpStatus: status } })
      expect('error' in started ? started.error.about : 'none').toBe(about)
    },
  )

  test.each<[string, Reply]>([
    ['no name', { body: {} }],
    ['a number for a name', { body: { name: 7 } }],
    ['a name that is an address', { body: { name: 'https://x.example/operations/1' } }],
    ['a name that leads up', { body: { name: '../operations/..' } }],
    ['a name with a query', { body: { name: 'operations/1?key=x' } }],
    ['a page', { body: '<html>' }],
    ['too much', { body: large }],
    ['compression', { body: { name }, headers: { 'content-encoding': 'x' } }],
    ['400 and a page', { status: 400, body: '<html>' }],
    ['408', { status: 408, body: refusal(408, 'DEADLINE_EXCEEDED') }],
    ['500', { status: 500, body: refusal(500, 'INTERNAL') }],
    ['503', { status: 503, body: refusal(503, 'UNAVAILABLE') }],
  ])('answered with %s may have arrived', async (_name, given) => {
    expect((await begin(given)).kind).toBe('unknown')
  })

  test.each([
    ['unreachable', 'refused'],
    ['tls', 'refused'],
    ['timeout', 'refused'],
    ['broken', 'unknown'],
    ['invalid', 'unknown'],
    ['cancelled', 'unknown'],
  ] as const)('whose connection failed as %s is %s', async (kind, expected) => {
    expect((await begin({}, failing(kind))).kind).toBe(expected)
  })
})

describe('a question', () => {
  const uri = 'https://files.example/files/x:download?alt=media'
  const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }

  test('is a GET by the name of the operation', async () => {
    expect(await poll({ body: { name } })).toEqual({
      kind: 'report',
      report: { state: 'running' },
      upstreamRequestId: undefined,
    })
    expect(asked.map(({ method, path }) => [method, path])).toEqual([
      ['GET', `/base/v1beta/${name}`],
    ])
    expect(asked[0]!.headers.get('x-goog-api-key')).toBe('k-secret')
  })

  test('gets the finished video, whether or not the name has its model', async () => {
    for (const told of [name, 'operations/abc-1_x']) {
      expect(await poll({ body: { name: told, done: true, response } })).toMatchObject({
        report: { state: 'succeeded', media: [{ kind: 'video', url: uri }], usage: {} },
      })
    }
  })

  test('answered with 404: the operation is missing', async () => {
    const answer = await poll({ status: 404, body: refusal(404, 'NOT_FOUND') })
    expect(answer).toMatchObject({ kind: 'report', report: { state: 'missing' } })
  })

  test.each<[string, Reply, string]>([
    ['a page', { body: '<html>' }, 'upstream_invalid_response'],
    ['nothing of an operation', { body: {} }, 'upstream_invalid_response'],
    ['too much', { body: large }, 'upstream_invalid_response'],
    [
      'the operation of somebody else',
      { body: { name: 'models/m/operations/other', done: true, response } },
      'upstream_invalid_response',
    ],
    ['403', { status: 403, body: refusal(403, 'PERMISSION_DENIED') }, 'upstream_permission_denied'],
    ['429', { status: 429, body: refusal(429, 'RESOURCE_EXHAUSTED') }, 'upstream_rate_limited'],
    ['503 and an operation', { status: 503, body: { name, done: true } }, 'upstream_error'],
    ['a redirect', { status: 302, headers: { location: '/x' } }, 'upstream_error'],
  ])('answered with %s has failed', async (_name, given, code) => {
    expect(await poll(given)).toMatchObject({ kind: 'failed', error: { code } } as object)
  })

  test('for a name that leads elsewhere is not asked', async () => {
    asked = []
    for (const odd of ['../x/operations/1', 'operations/..', '//h/operations/1', 'x', '']) {
      expect((await check(odd, usual, new Cancellation())).kind).toBe('failed')
    }
    expect(asked).toHaveLength(0)
  })
})
