import { describe, expect, test } from 'bun:test'
import { answerOf } from '../common/test-client.ts'
import type { Json } from '../tasks/read-reply.ts'
import { errorOf } from './errors.ts'

function read(status: number, body: Json, headers: Record<string, string> = {}) {
  const text = JSON.stringify(body)
  return errorOf({ answer: answerOf({ status, headers, body: text }), text, body })
}

const denied = 'upstream_permission_denied'
const invalid = 'upstream_invalid_request'
const policy = 'content_policy_violation'
const limited = 'upstream_rate_limited'

describe('a refusal', () => {
  test.each([
    [400, 'InvalidParameter', 'bad size', invalid, undefined],
    [400, 'InvalidParameter.DataInspection', 'unable to download', invalid, undefined],
    [400, 'InvalidURL', 'cannot be downloaded', invalid, undefined],
    [400, 'InvalidFile.Format', 'not a video', invalid, undefined],
    [400, 'InvalidParameter', 'Model not exist.', denied, 'model'],
    [400, 'DataInspectionFailed', 'may be unsuitable', policy, undefined],
    [500, 'DataInspectionFailed', 'may be unsuitable', policy, undefined],
    [400, 'Arrearage', 'not in good standing', denied, 'key'],
    [401, 'InvalidApiKey', 'no such key', denied, 'key'],
    [403, 'AccessDenied', 'denied', denied, 'key'],
    [403, 'AccessDenied', 'no permission to use this model', denied, 'model'],
    [403, 'Workspace.AccessDenied', 'denied', denied, 'key'],
    [403, 'AccessDenied.Unpurchased', 'not activated', denied, 'model'],
    [403, 'Model.AccessDenied', 'denied', denied, 'model'],
    [404, 'ModelNotFound', 'none', denied, 'model'],
    [429, 'Throttling', 'slow down', limited, 'key'],
    [429, 'Throttling.AllocationQuota', 'quota', limited, 'key'],
    [400, 'Throttling.RateQuota', 'slow down', limited, 'key'],
    [429, '', 'slow down', limited, 'key'],
    [500, 'InternalError', 'oops', 'upstream_error', undefined],
    [500, 'InternalError.Timeout', 'oops', 'upstream_error', undefined],
    [503, 'ModelUnavailable', 'oops', 'upstream_error', undefined],
  ] as const)('%p %s (%s) is %s, about %p', (status, code, message, expected, about) => {
    const error = read(status, { code, message, request_id: 'r-9' })
    expect(error).toMatchObject({ code: expected, message, httpStatus: status })
    expect(error.about).toBe(about as 'key')
    expect(error.upstreamRequestId).toBe('r-9')
  })

  test('keeps how long to wait', () => {
    const error = read(429, { code: 'Throttling', message: 'm' }, { 'retry-after': '7' })
    expect(error.retryAfterSeconds).toBe(7)
  })

  test('inside an answer with a good status is told by its code', () => {
    expect(read(200, { code: 'Throttling', message: 'm' })).toMatchObject({ code: limited })
  })
})

test('an answer with a good status that is no task says so', () => {
  expect(read(200, { request_id: 'r-2' })).toEqual({
    code: 'upstream_invalid_response',
    message: 'the upstream answered with something that is not a task',
    upstreamRequestId: 'r-2',
  })
})
