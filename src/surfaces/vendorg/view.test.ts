import { describe, expect, test } from 'bun:test'
import type { VideoRequest, VideoTask } from '../../contract/task.ts'
import { splitCall, taskIdOf } from './names.ts'
import { operationOf, pollHeaders } from './view.ts'

const plain = '0192aabbccddeeff0011223344556677'
const request: VideoRequest = { prompt: 'a boat', seconds: 8, resolution: '720p', media: [] }

const taskWith = (more: Partial<VideoTask> = {}): VideoTask => ({
  kind: 'video',
  id: `video_${plain}`,
  accountId: 'acc_1',
  tokenId: 'tok_1',
  requestId: 'req_1',
  interface: 'vendorg',
  model: 'vendorg-video-1',
  protocol: 'vendorg',
  channelId: 'c',
  channel: 'c',
  upstreamModel: 'up',
  keyFingerprint: 'k',
  upstreamId: 'models/up/operations/secret-name',
  state: 'queued',
  progress: 0,
  request,
  priceId: 'price_1',
  holdNanos: 0n,
  chargeNanos: 0n,
  media: [{ kind: 'video', url: 'https://upstream.example/secret.mp4' }],
  createdAtMs: 1,
  updatedAtMs: 1,
  nextCheckAtMs: 1,
  checks: 0,
  misses: 0,
  hidden: false,
  ...more,
})

const view = (more: Partial<VideoTask>, publicUrl = 'https://gw.example', version = 'v1beta') =>
  operationOf(taskWith(more), publicUrl, version) as {
    response: { generateVideoResponse: { generatedSamples: { metadata: object }[] } }
  }

test.each(['accepted', 'unknown', 'queued', 'running'] as const)('%s is not done', (state) => {
  expect(view({ state }) as object).toEqual({ name: `operations/${plain}`, done: false })
  expect(pollHeaders(taskWith({ state }))).toEqual({ 'retry-after': '6' })
})

describe('one that succeeded', () => {
  test('is done, with the file at the gateway and nothing of the upstream', () => {
    const shown: object = view({ state: 'succeeded', usage: { outputSeconds: 7.5 } })
    expect(shown).toEqual({
      name: `operations/${plain}`,
      done: true,
      response: {
        generateVideoResponse: {
          generatedSamples: [
            {
              video: {
                uri: `https://gw.example/vendorg/v1beta/files/${plain}:download?alt=media`,
              },
              metadata: { durationSeconds: 7.5, size: '1280x720' },
            },
          ],
        },
      },
    })
    expect(pollHeaders(taskWith({ state: 'succeeded' }))).toBeUndefined()
  })

  test('has its file under the version it was asked by', () => {
    const text = JSON.stringify(view({ state: 'succeeded' }, 'http://h/base/', 'v1"/../'))
    expect(text).toContain('"http://h/base/vendorg/v1%22%2F..%2F/files/')
  })

  const media = [{ kind: 'image' as const, url: 'https://m.example/a.png' }]
  test.each<[Partial<VideoRequest>, object]>([
    [{}, { durationSeconds: 8, size: '1280x720' }],
    [{ ratio: '9:16' }, { durationSeconds: 8, size: '720x1280' }],
    [
      { ratio: '9:16', resolution: '1080p' },
      { durationSeconds: 8, size: '1080x1920' },
    ],
    [
      { ratio: '16:9', seconds: 4, media },
      { durationSeconds: 4, size: '1280x720' },
    ],
    [{ media }, { durationSeconds: 8 }],
    [{ ratio: 'adaptive' }, { durationSeconds: 8 }],
  ])('and was asked for as %j has the metadata %j', (more, metadata) => {
    const { response } = view({ state: 'succeeded', request: { ...request, ...more } })
    expect(response.generateVideoResponse.generatedSamples[0]!.metadata).toEqual(metadata)
  })
})

describe('one that did not succeed', () => {
  test.each([
    ['content_policy_violation', 3, 'INVALID_ARGUMENT'],
    ['upstream_invalid_request', 3, 'INVALID_ARGUMENT'],
    ['upstream_rate_limited', 8, 'RESOURCE_EXHAUSTED'],
    ['upstream_timeout', 4, 'DEADLINE_EXCEEDED'],
    ['upstream_error', 13, 'INTERNAL'],
    ['constructor', 13, 'INTERNAL'],
  ] as const)('for %s is done with number %p', (reason, code, status) => {
    const error = { code: reason, message: 'it went wrong' }
    expect(view({ state: 'failed', error }) as object).toEqual({
      name: `operations/${plain}`,
      done: true,
      error: { code, message: 'it went wrong', status, reason },
    })
  })

  test('and was cancelled, or gave no reason, says so', () => {
    const cancelled = { error: { code: 1, status: 'CANCELLED' } }
    expect(view({ state: 'cancelled' }) as object).toMatchObject({ done: true, ...cancelled })
    expect(view({ state: 'failed' }) as object).toMatchObject({ error: { code: 13 } })
  })
})

describe('names', () => {
  test.each([
    [plain, `video_${plain}`],
    [`video_${plain}`, `video_${plain}`],
    ['', undefined],
    ['video_', undefined],
    ['video_video_1', undefined],
    ['../x', undefined],
    ['ABC', undefined],
    ['a'.repeat(65), undefined],
  ])('%p is the task %p', (id, taskId) => {
    expect(taskIdOf(id)).toBe(taskId)
  })

  test.each([
    ['vendorg-video-1.5:predictLongRunning', 'vendorg-video-1.5', 'predictLongRunning'],
    ['a:b:c', 'a:b', 'c'],
    ['a', 'a', ''],
  ])('%p is split at its last colon', (segment, name, method) => {
    expect(splitCall(segment)).toEqual([name, method])
  })
})
