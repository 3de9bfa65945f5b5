import { expect, test } from 'bun:test'
import type { LinkTo } from '../../contract/caller-api.ts'
import { taskStates, type VideoTask } from '../../contract/task.ts'
import { nativeTask } from './test-task.ts'
import { viewOf } from './view.ts'

const task = nativeTask()
const linkTo: LinkTo = ({ id }, part) => `https://gw.example/${id}/${part}`
const view = (more: Partial<VideoTask>) => viewOf({ ...task, ...more }, linkTo)

const done: Partial<VideoTask> = {
  state: 'succeeded',
  media: [
    { kind: 'video', url: 'https://up.example/secret.mp4' },
    { kind: 'image', url: 'https://up.example/secret.png' },
  ],
  usage: { videoTokens: 7, outputSeconds: 4 },
  reported: { ratio: '9:16', resolution: '720p', framespersecond: 24, seed: 3, id: 'x' },
}

test('a task that waits is its ids, its model, its status and its times', () => {
  expect(view({})).toEqual({
    id: 'cgt-1',
    platform_id: 'video_01',
    model: 'vidmodel-1-0-pro-250528',
    status: 'queued',
    created_at: 1_760_000_000,
    updated_at: 1_760_000_001,
  })
})

test('every state has one of the five words', () => {
  const words = taskStates.map((state) => view({ state })['status'])
  expect(words).toEqual([
    ...['queued', 'queued', 'queued', 'running'],
    ...['succeeded', 'failed', 'cancelled'],
  ])
})

test('a task without a name upstream goes by the gateway’s', () => {
  const { upstreamId: _, ...unnamed } = task
  expect(viewOf({ ...unnamed, state: 'unknown' }, linkTo)).toMatchObject({
    id: 'video_01',
    platform_id: 'video_01',
  })
})

test('a finished one has its result at the gateway’s own addresses', () => {
  const shown = view(done)
  expect(shown).toMatchObject({
    content: {
      video_url: 'https://gw.example/video_01/0',
      last_frame_url: 'https://gw.example/video_01/1',
      width: 704,
      height: 1248,
    },
    duration: 4,
    framespersecond: 24,
    usage: { completion_tokens: 7, total_tokens: 7, video_tokens: 7 },
    seed: 3,
    ratio: '9:16',
  })
  expect(JSON.stringify(shown)).not.toContain('up.example')
})

test('a shape nobody told is not guessed, and usage that was not reported is not shown', () => {
  const { content, usage } = view({ ...done, usage: {}, reported: {} })
  expect(content).not.toHaveProperty('width')
  expect(usage).toBeUndefined()
})

test('a failed one says why, and no other one has an error', () => {
  const error = { code: 'content_policy_violation', message: 'not this' }
  expect(view({ state: 'failed', error })['error']).toEqual(error)
  expect(view({ state: 'failed' })['error']).toMatchObject({ code: 'upstream_error' })
  expect(view({ state: 'unknown', error })).not.toHaveProperty('error')
})

test('a task of another protocol is sized by its own rule', () => {
  const request = { ...task.request, ratio: '16:9' }
  const shown = view({ ...done, protocol: 'vf', request, reported: { duration: 5 } })
  expect(shown['content']).toMatchObject({ width: 1280, height: 720 })
})
