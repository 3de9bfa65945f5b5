// The provider against a test upstream: what it sends, and what replies mean.
import { afterEach, describe, expect, test } from 'bun:test'
import type { TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { createHttpClient } from '../../lib/http/client.ts'
import { HttpError } from '../../lib/http/error.ts'
import { arkvendor } from './index.ts'

const video = arkvendor.video!
const id = 'cgt-20260102030405-ab1cd'

interface Reply {
  line: string
  auth: string | null
  body: string
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

function upstreamOf(answer: (request: Request) => Response, more: Partial<TaskUpstream> = {}) {
  const got: Reply[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const auth = request.headers.get('authorization')
      got.push({
        line: `${request.method} ${pathname}${search}`,
        auth,
        body: await request.text(),
      })
      return answer(request)
    },
  })
  const http = createHttpClient()
  closing.push(() => {
    http.close()
    server.stop(true)
  })
  const upstream: TaskUpstream = {
    baseUrl: `http://127.0.0.1:${server.port}/api/v3`,
    key: 'k-secret',
    model: 'vidmodel-1-0-pro',
    plainModel: 'vidmodel-1-0-pro',
    timeouts: { connectMs: 5000, firstByteMs: 5000, idleMs: 5000, totalMs: 5000 },
    messages: { headers: 'both', auth: 'both' },
    http,
    progress: { touch() {} },
    marker: 'video_marker',
    fetchMedia: async () => ({ problem: 'nothing is fetched here' }),
    ...more,
  }
  return { upstream, got }
}

const reply = (status: number, body: unknown) => () => Response.json(body, { status })
const refusal = (code: string, message = 'no') => ({ error: { code, message, type: 'BadRequest' } })

const plain: VideoRequest = { prompt: 'a boat', seconds: 5, resolution: '720p', media: [] }
const body = { content: [{ type: 'text', text: 'a boat' }], frames: 145, watermark: true }
const native: VideoRequest = { ...plain, native: { body } }

describe('a create', () => {
  async function sentFor(request: VideoRequest, more: Partial<TaskUpstream> = {}) {
    const { upstream, got } = upstreamOf(reply(200, { id }), more)
    const started = await video.start(request, upstream, new Cancellation())
    return { started, got, sent: JSON.parse(got[0]!.body) }
  }

  test('goes up in the caller’s own words, under the version of the model', async () => {
    const { started, got, sent } = await sentFor(native)
    expect(sent).toEqual({
      ...body,
      safety_identifier: 'video_marker',
      model: 'vidmodel-1-0-pro-250528',
    })
    expect(got).toMatchObject([
      { line: 'POST /api/v3/contents/generations/tasks', auth: 'Bearer k-secret' },
    ])
    expect(started).toEqual({
      kind: 'started',
      upstreamId: id,
      upstreamRequestId: undefined,
      upstreamModel: 'vidmodel-1-0-pro-250528',
    })
  })

  test.each([
    ['vidmodel-1-5-pro', 'vidmodel-1-5-pro', 'vidmodel-1-5-pro-251215'],
    ['vidmodel-1-0-lite-i2v', 'vidmodel-1-0-lite-i2v', 'vidmodel-1-0-lite-i2v-250428'],
    ['vidmodel-1-0-pro', 'ep-own', 'ep-own'],
    ['vidmodel-9', 'vidmodel-9', 'vidmodel-9'],
  ])('of %s where the channel says %s asks for %s', async (plainModel, model, asked) => {
    const { sent } = await sentFor(native, { plainModel, model })
    expect(sent.model).toBe(asked)
  })

  test('of a plain request says the same in the upstream’s words', async () => {
    const image = (url: string) => ({ kind: 'image' as const, url })
    const media = [image('https://m.example/1.png'), image('https://m.example/2.png')]
    const { sent } = await sentFor({ ...plain, ratio: '9:16', seed: 7, media })
    expect(sent).toEqual({
      model: 'vidmodel-1-0-pro-250528',
      content: [
        { type: 'text', text: 'a boat' },
        { type: 'image_url', image_url: { url: media[0]!.url }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: media[1]!.url }, role: 'last_frame' },
      ],
      resolution: '720p',
      duration: 5,
      ratio: '9:16',
      seed: 7,
      safety_identifier: 'video_marker',
    })
  })

  test.each([
    [400, 'InvalidParameter', 'upstream_invalid_request', undefined],
    [400, 'MissingParameter.content', 'upstream_invalid_request', undefined],
    [400, 'InputTextSensitiveContentDetected', 'content_policy_violation', undefined],
    [400, 'SensitiveContentDetected.PolicyViolation', 'content_policy_violation', undefined],
    [400, 'InvalidEndpoint.ClosedEndpoint', 'upstream_permission_denied', 'model'],
    [401, 'AuthenticationError', 'upstream_permission_denied', 'key'],
    [403, 'AccountOverdueError', 'upstream_permission_denied', 'key'],
    [404, 'ModelNotOpen', 'upstream_permission_denied', 'model'],
    [404, 'InvalidEndpointOrModel.NotFound', 'upstream_permission_denied', 'model'],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', 'upstream_rate_limited', 'key'],
    [429, 'ModelAccountRpmRateLimitExceeded', 'upstream_rate_limited', 'key'],
    [429, 'ServerOverloaded', 'upstream_rate_limited', undefined],
  ] as const)('refused with %p %s is %s', async (status, code, expected, about) => {
    const { upstream } = upstreamOf(reply(status, refusal(code, 'no. Request id: 0217abcdef99')))
    const started = await video.start(native, upstream, new Cancellation())
    expect(started).toMatchObject({
      kind: 'refused',
      error: { code: expected, message: 'no', upstreamRequestId: '0217abcdef99' },
    })
    expect('error' in started && started.error.about).toBe(about as 'key')
  })

  test.each([
    ['unreachable', 'refused'],
    ['tls', 'refused'],
    ['timeout', 'refused'],
    ['broken', 'unknown'],
    ['cancelled', 'unknown'],
  ] as const)('whose connection failed as %s is %s', async (kind, expected) => {
    const call = () => ({ answer: Promise.reject(new HttpError(kind, 'x')), cancel() {} })
    const http = { post: call, get: call, delete: call }
    const { upstream } = upstreamOf(reply(200, {}), { http })
    expect((await video.start(native, upstream, new Cancellation())).kind).toBe(expected)
  })

  test('answered with several ids has the first, and tells of the others', async () => {
    const { upstream } = upstreamOf(reply(200, { id: [id, 'cgt-2', id, 7] }))
    expect(await video.start(native, upstream, new Cancellation())).toMatchObject({
      kind: 'started',
      upstreamId: id,
      otherIds: ['cgt-2'],
    })
  })

  test('of a caller who names its own user carries no marker', async () => {
    const named = { ...native.native!.body, safety_identifier: 'user-7' }
    const request = { ...native, native: { body: named } }
    expect((await sentFor(request)).sent.safety_identifier).toBe('user-7')
  })

  test.each([
    ['a failure inside', reply(500, refusal('InternalServiceError'))],
    ['an answer without an id', reply(200, {})],
    ['a page', () => new Response('<html>')],
    ['a time-out on the way', reply(408, refusal('x'))],
  ])('answered by %s may have arrived', async (_, answer) => {
    const { upstream } = upstreamOf(answer)
    expect(await video.start(native, upstream, new Cancellation())).toMatchObject({
      kind: 'unknown',
    })
  })
})

describe('a question', () => {
  async function reportOf(status: number, answer: unknown) {
    const { upstream, got } = upstreamOf(reply(status, answer))
    const checked = await video.check(id, upstream, new Cancellation())
    expect(got[0]!.line).toBe(`GET /api/v3/contents/generations/tasks/${id}`)
    return checked.kind === 'report' ? checked.report : checked.error.code
  }

  test.each([
    ['queued', 'queued'],
    ['running', 'running'],
    ['SUCCESS', 'succeeded'],
    ['In Progress', 'running'],
    ['cancelled', 'cancelled'],
  ])('answered %s means %s', async (status, state) => {
    expect(await reportOf(200, { id, status })).toMatchObject({ state })
  })

  test('answered with a word that nobody knows means running, and tells the word', async () => {
    const report = await reportOf(200, { id, status: ' Polishing ' })
    expect(report).toEqual({ state: 'running', unknownStatus: 'Polishing' })
  })

  test('about a finished task gives its files and its tokens', async () => {
    const settings = { id, model: 'm', status: 'succeeded', updated_at: 1_767_323_101, duration: 5 }
    const usage = { completion_tokens: 108_900, total_tokens: 108_900 }
    const content = {
      video_url: 'https://cdn.example/v.mp4',
      last_frame_url: 'https://c.example/l',
    }
    const expiresAtMs = 1_767_323_101_000 + 24 * 3_600_000
    const told = { ...settings, usage, content, safety_identifier: 'video_marker' }
    expect(await reportOf(200, told)).toEqual({
      state: 'succeeded',
      media: [
        { kind: 'video', url: 'https://cdn.example/v.mp4', expiresAtMs },
        { kind: 'image', url: 'https://c.example/l', expiresAtMs },
      ],
      usage: { videoTokens: 108_900, outputSeconds: 5 },
      raw: { ...settings, usage },
    })
  })

  test.each([
    [{}, undefined],
    [{ completion_tokens: 7 }, 7],
    [{ total_tokens: 8 }, 8],
    [{ completion_tokens: -1 }, undefined],
    [{ completion_tokens: 1.5 }, undefined],
    [{ completion_tokens: '7' }, undefined],
    [{ completion_tokens: 1e12 }, undefined],
  ])('with usage %j tells %p tokens', async (usage, videoTokens) => {
    const report = await reportOf(200, { id, status: 'succeeded', usage })
    expect(report).toMatchObject({ state: 'succeeded', media: [] })
    expect((report as { usage: { videoTokens?: number } }).usage.videoTokens).toBe(videoTokens!)
  })

  test('about a failed one keeps the reason; one that expired has failed', async () => {
    const error = { code: 'OutputVideoSensitiveContentDetected', message: 'not this' }
    expect(await reportOf(200, { id, status: 'failed', error })).toMatchObject({
      state: 'failed',
      error: { code: 'content_policy_violation', message: 'not this' },
    })
    expect(await reportOf(200, { id, status: 'expired', error: null })).toMatchObject({
      state: 'failed',
      error: { code: 'upstream_timeout' },
    })
  })

  test('that nobody can answer leaves the task as it was', async () => {
    expect(await reportOf(404, refusal('NotFound'))).toEqual({ state: 'missing' })
    expect(await reportOf(500, refusal('InternalServiceError'))).toBe('upstream_error')
    expect(await reportOf(200, { id })).toBe('upstream_invalid_response')
    expect(await reportOf(200, { id: 'cgt-another', status: 'succeeded' })).toBe(
      'upstream_invalid_response',
    )
  })
})

describe('a cancel', () => {
  test.each([
    [200, {}, 'cancelled'],
    [200, refusal('InvalidAction.RunningTaskDeletion'), 'refused'],
    [409, refusal('InvalidAction.RunningTaskDeletion'), 'refused'],
    [404, refusal('NotFound'), 'failed'],
    [500, refusal('InternalServiceError'), 'failed'],
  ])('answered %p %j is %s', async (status, answer, kind) => {
    const { upstream, got } = upstreamOf(reply(status, answer))
    const cancelled = await video.cancel!(id, upstream, new Cancellation())
    expect(cancelled.kind).toBe(kind as 'failed')
    expect(got).toMatchObject([
      { line: `DELETE /api/v3/contents/generations/tasks/${id}`, body: '' },
    ])
  })
})
