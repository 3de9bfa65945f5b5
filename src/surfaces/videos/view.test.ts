// The video object in each state, and that it shows nothing of the upstream.

import { describe, expect, test } from 'bun:test'
import type { LinkTo } from '../../contract/caller-api.ts'
import type { TaskState, VideoRequest } from '../../contract/task.ts'
import { finishedWith, taskWith } from './test-task.ts'
import { pollHeaders, viewOf } from './view.ts'

const linkTo: LinkTo = ({ id }, part) => `https://api.example/gw/${id}/${part}`

describe('a video', () => {
  test('that waits has no address and no end', () => {
    expect(viewOf(taskWith(), linkTo)).toEqual({
      id: 'video_01',
      video_id: 'video_01',
      object: 'video',
      model: 'vfb-1.1-t2v',
      status: 'queued',
      progress: 0,
      created_at: 1_760_000_000,
      completed_at: null,
      expires_at: null,
      seconds: '5',
      resolution: '1080p',
      size: '1920x1080',
      prompt: 'a boat',
      error: null,
      remixed_from_video_id: null,
      request_id: 'req_1',
    })
  })

  test("that is done has the gateway's address, its usage and its expiry", () => {
    const url = 'https://api.example/gw/video_01/0'
    expect(viewOf(finishedWith(), linkTo)).toMatchObject({
      status: 'completed',
      progress: 100,
      completed_at: 1_760_000_065,
      expires_at: 1_760_086_465,
      url,
      video_url: url,
      metadata: { url },
      usage: { output_seconds: 5, resolution: '1080p' },
      error: null,
    })
  })

  test("expires when the upstream's address does, if that is known", () => {
    const media = [{ kind: 'video' as const, url: 'https://u.example', expiresAtMs: 5_999 }]
    expect(viewOf(finishedWith({ media }), linkTo)).toMatchObject({ expires_at: 5 })
  })

  test('of a native task shows the tokens it used', () => {
    expect(viewOf(finishedWith({ usage: { videoTokens: 9 } }), linkTo)).toMatchObject({
      usage: { video_tokens: 9, resolution: '1080p' },
    })
  })

  test('that failed says why, and one that did not says nothing', () => {
    const error = { code: 'content_policy_violation', message: 'not this' }
    const failed = taskWith({
      state: 'failed',
      error,
      progress: 30,
      finishedAtMs: 1_760_000_002_000,
    })
    expect(viewOf(failed, linkTo)).toMatchObject({
      status: 'failed',
      progress: 30,
      completed_at: 1_760_000_002,
      expires_at: null,
      error,
    })
    expect(viewOf(failed, linkTo)).not.toHaveProperty('url')
    expect(viewOf(taskWith({ state: 'failed' }), linkTo)['error']).toMatchObject({
      code: 'upstream_error',
    })
    expect(viewOf(taskWith({ state: 'cancelled', error }), linkTo)['error']).toBeNull()
  })

  test('shows nothing of where it was made', () => {
    const task = finishedWith({ channel: 'canary', upstreamId: 'canary', upstreamModel: 'canary' })
    expect(JSON.stringify(viewOf(task, linkTo))).not.toMatch(/canary|upstream\.example|acc_1/)
  })

  test('without a prompt has no such field', () => {
    const request: VideoRequest = { prompt: '', seconds: 5, resolution: '720p', media: [] }
    expect(viewOf(taskWith({ request }), linkTo)).not.toHaveProperty('prompt')
  })

  test.each<[TaskState, string, boolean]>([
    ['accepted', 'queued', true],
    ['unknown', 'queued', true],
    ['queued', 'queued', true],
    ['running', 'in_progress', true],
    ['succeeded', 'completed', false],
    ['failed', 'failed', false],
    ['cancelled', 'cancelled', false],
  ])('in state %s is called %s', (state, status, pending) => {
    const task = taskWith({ state })
    expect(viewOf(task, linkTo)['status']).toBe(status)
    expect(pollHeaders(task)).toEqual(
      pending ? { 'retry-after': '2', 'openai-poll-after-ms': '2000' } : undefined,
    )
  })

  test.each<[number, number]>([
    [0, 0],
    [33.7, 33],
    [99, 99],
    [100, 99],
    [-1, 0],
  ])('that runs and is at %p shows %p', (progress, shown) => {
    expect(viewOf(taskWith({ state: 'running', progress }), linkTo)['progress']).toBe(shown)
  })

  test.each<[Partial<VideoRequest>, string | null]>([
    [{}, '1920x1080'],
    [{ resolution: '720p' }, '1280x720'],
    [{ resolution: '720p', ratio: '9:16' }, '720x1280'],
    [{ ratio: '1:1' }, '1080x1080'],
    [{ ratio: '4:3' }, '1440x1080'],
    [{ resolution: '720p', ratio: '21:9' }, '1680x720'],
    [{ ratio: 'adaptive' }, null],
    [{ media: [{ kind: 'image', url: 'https://h.example/a.png' }] }, null],
    [{ ratio: '1:1', media: [{ kind: 'image', url: 'https://h.example/a.png' }] }, '1080x1080'],
  ])('of %j has the size %p', (more, size) => {
    const request = { ...taskWith().request, ...more }
    expect(viewOf(taskWith({ request }), linkTo)['size']).toBe(size)
  })
})
