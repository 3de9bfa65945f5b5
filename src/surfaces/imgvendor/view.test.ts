// A task in each of its states, as an answer and as a notice.

import { expect, test } from 'bun:test'
import type { LinkTo } from '../../contract/caller-api.ts'
import type { ImageTask, TaskState } from '../../contract/task.ts'
import { noticeOf } from './notice.ts'
import { imageTask } from './test-task.ts'
import { envelope, viewOf } from './view.ts'

const linkTo: LinkTo = ({ id }, part) => `https://gw.test/${id}/${part}`
const times = { created_at: 1_760_000_000_123, updated_at: 1_760_000_031_456 }
const files = [0, 1].map((part) => ({ kind: 'image' as const, url: `https://up.test/${part}` }))
const images = [
  { index: 0, url: 'https://gw.test/image_01/0' },
  { index: 1, url: 'https://gw.test/image_01/1' },
]
const done = (more: Partial<ImageTask> = {}) =>
  imageTask({ state: 'succeeded', media: files, ...more })

test.each<[TaskState, string]>([
  ['accepted', 'submitted'],
  ['unknown', 'submitted'],
  ['queued', 'submitted'],
  ['running', 'processing'],
])('%s is %s', (state, status) => {
  expect(viewOf(imageTask({ state }), linkTo)).toEqual({
    task_id: 'image_01',
    task_status: status,
    task_info: {},
    ...times,
  })
})

test('a success has its pictures by number, at addresses of the gateway', () => {
  const task = done({ externalId: 'job-17' })
  expect(viewOf(task, linkTo)).toEqual({
    task_id: 'image_01',
    task_status: 'succeed',
    task_info: { external_task_id: 'job-17' },
    task_result: { images },
    ...times,
  })
  expect(JSON.stringify(viewOf(task, linkTo))).not.toMatch(/up\.test|up-1/)
})

test('a failure has its reason and no result', () => {
  const error = { code: 'content_policy_violation', message: 'not that' }
  expect(viewOf(imageTask({ state: 'failed', error, media: files }), linkTo)).toEqual({
    task_id: 'image_01',
    task_status: 'failed',
    task_status_msg: 'not that',
    task_info: {},
    ...times,
  })
  const cancelled = viewOf(imageTask({ state: 'cancelled' }), linkTo)
  expect(cancelled).toMatchObject({
    task_status: 'failed',
    task_status_msg: 'the task was cancelled',
  })
})

test('a series stands under its own name too, and a watermark is told back', () => {
  const body = { result_type: 'series', watermark_info: { enabled: true } }
  const { request } = imageTask()
  const task = done({ request: { ...request, native: { path: 'omni-image', body } } })
  expect(viewOf(task, linkTo)).toMatchObject({
    watermark_info: { enabled: true },
    task_result: { result_type: 'series', images, series_images: images },
  })
})

test('the envelope of a success', () => {
  expect(envelope('req_1', [])).toEqual({
    code: 0,
    message: 'success',
    request_id: 'req_1',
    data: [],
  })
})

test('a notice is flat', () => {
  expect(noticeOf(done({ externalId: 'job-17' }), linkTo)).toEqual({
    task_id: 'image_01',
    task_status: 'succeed',
    task_status_msg: '',
    task_info: { external_task_id: 'job-17' },
    ...times,
    task_result: { images },
  })
  const error = { code: 'upstream_error', message: 'it broke' }
  expect(noticeOf(imageTask({ state: 'failed', error }), linkTo)).toEqual({
    task_id: 'image_01',
    task_status: 'failed',
    task_status_msg: 'it broke',
    task_info: {},
    ...times,
  })
})
