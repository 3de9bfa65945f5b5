// An upstream's refusals mapped to the error table, case by case.
import { describe, expect, test } from 'bun:test'
import type { HttpAnswer } from '../../contract/http.ts'
import { readError, readErrorEvent, upstreamRequestId } from './errors.ts'

const answerWith = (status: number, headers: Record<string, string> = {}): HttpAnswer => {
  const all = new Headers(headers)
  const text = async () => ''
  const read = async () => undefined
  return {
    status,
    header: (name) => all.get(name) ?? undefined,
    text,
    read,
    pipe() {},
    resume() {},
    cancel() {},
    release() {},
    expectTrickle() {},
  }
}

const read = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  readError(answerWith(status, headers), typeof body === 'string' ? body : JSON.stringify(body))

describe('the code', () => {
  const says = (message: string) => ({ error: { message } })
  test.each([
    [400, says('bad field'), 'upstream_invalid_request'],
    [413, says('too long'), 'upstream_invalid_request'],
    [422, says('bad field'), 'upstream_invalid_request'],
    [400, { error: { message: 'no', code: 'data_inspection_failed' } }, 'content_policy_violation'],
    [400, { error: { message: 'no', type: 'content_filter' } }, 'content_policy_violation'],
    [400, says('violates our content_policy'), 'content_policy_violation'],
    [400, says('Input may contain inappropriate content.'), 'content_policy_violation'],
    [401, says('bad key'), 'upstream_permission_denied'],
    [403, says('no entitlement'), 'upstream_permission_denied'],
    [404, says('no such model'), 'upstream_permission_denied'],
    [408, says('slow'), 'upstream_timeout'],
    [504, says('slow'), 'upstream_timeout'],
    [429, says('slow down'), 'upstream_rate_limited'],
    [500, says('broken'), 'upstream_error'],
    [502, says('broken'), 'upstream_error'],
    [503, says('busy'), 'upstream_error'],
    [500, says('content_policy service is down'), 'upstream_error'],
    [301, '', 'upstream_error'],
    [200, says('in a good status'), 'upstream_error'],
    [200, { error: { message: 'no', code: 'content_filter' } }, 'content_policy_violation'],
    [200, { error: { message: 'slow', type: 'rate_limit_error' } }, 'upstream_rate_limited'],
  ])('of status %d with %j is %s', (status, body, code) => {
    expect(read(status, body)).toMatchObject({ code, httpStatus: status } as object)
  })
})

test.each([
  [404, '404 page not found', 'path'],
  [404, { detail: 'Not Found' }, 'path'],
  [404, '', 'path'],
  [404, { error: { message: 'Invalid URL (POST /v1/responses)' } }, 'path'],
  [404, '<pre>Cannot POST /v1/messages</pre>', 'path'],
  [405, { detail: 'Method Not Allowed' }, 'path'],
  [404, { error: { message: 'The model `m` does not exist' } }, 'model'],
  [404, { error: { message: 'nothing for this key' } }, 'key'],
])('status %d with %j blames the %s', (status, body, about) => {
  expect(read(status, body).about).toBe(about as 'key')
})

describe('the message', () => {
  const silent = 'the upstream answered with status 500'
  test.each<[unknown, string]>([
    [{ error: { message: 'boom' } }, 'boom'],
    [{ error: 'boom' }, 'boom'],
    [{ message: 'boom', code: 'X' }, 'boom'],
    [{ error: { message: '' }, message: 'outer' }, 'outer'],
    [{ error: { message: 5 } }, silent],
    [{ error: null }, silent],
    [{}, silent],
    [[], silent],
    ['"text"', silent],
    ['', silent],
    ['<html><body>Bad gateway</body></html>', silent],
    ['{"error":{"message":"cut o', silent],
  ])('of %j', (body, message) => {
    expect(read(500, body).message).toBe(message)
  })
})

describe('the upstream request id', () => {
  test.each<[Record<string, string>, unknown, string | undefined]>([
    [{ 'x-request-id': 'a', 'request-id': 'b' }, {}, 'a'],
    [{ 'request-id': 'b' }, { request_id: 'c' }, 'b'],
    [{}, { request_id: 'c' }, 'c'],
    [{}, { request_id: '' }, undefined],
    [{}, {}, undefined],
  ])('from headers %j and body %j is %p', (headers, body, id) => {
    expect(read(500, body, headers).upstreamRequestId).toBe(id)
  })

  test('of a good answer is in its headers', () => {
    expect(upstreamRequestId(answerWith(200, { 'X-Request-Id': 'a' }))).toBe('a')
    expect(upstreamRequestId(answerWith(200))).toBeUndefined()
  })
})

describe('retry-after', () => {
  const inFuture = new Date(Date.now() + 30_000).toUTCString()
  test.each<[string, number | undefined]>([
    ['7', 7],
    ['0', 1],
    ['-5', 1],
    ['1000000000', 600],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 1],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 600],
    ['soon', undefined],
    ['', undefined],
  ])('of %j is %p seconds', (value, seconds) => {
    expect(read(429, {}, { 'retry-after': value }).retryAfterSeconds).toBe(seconds)
  })

  test('of a time in half a minute is about that', () => {
    const { retryAfterSeconds } = read(429, {}, { 'retry-after': inFuture })
    expect(retryAfterSeconds).toBeWithin(1, 32)
  })

  test.each<[unknown, Record<string, string>, number | undefined]>([
    [{ error: { message: 'Please try again in 6.2s.' } }, {}, 7],
    [{ error: { message: 'Please try again in 20ms.' } }, {}, 1],
    [{ error: { message: 'Please try again in 1m30s.' } }, {}, 90],
    [{ error: { message: 'Please try again in 6m0s.' } }, {}, 360],
    [{ error: { message: 'Please retry in 34.07s.' } }, {}, 35],
    [{ error: { message: 'slow', details: [{ retryDelay: '6.5s' }] } }, {}, 7],
    [{ error: { message: 'Please try again in 9s.' } }, { 'retry-after': '3' }, 3],
    [{ error: { message: 'slow' } }, { 'retry-after-ms': '1500' }, 2],
    [{ error: { message: 'try again later' } }, {}, undefined],
  ])('of %j with headers %j is read', (body, headers, seconds) => {
    expect(read(429, body, headers).retryAfterSeconds).toBe(seconds)
  })

  test('in the text of another failure means nothing', () => {
    const body = { error: { message: 'Please try again in 6s.' } }
    expect(read(400, body).retryAfterSeconds).toBeUndefined()
  })

  test('that is missing stays missing', () => {
    expect('retryAfterSeconds' in read(429, {})).toBe(false)
  })
})

test('an error event of a stream is read as the error of an answer is', () => {
  expect(readErrorEvent({ message: 'boom', code: 'x' }, 'up_1')).toEqual({
    code: 'upstream_error',
    message: 'boom',
    upstreamRequestId: 'up_1',
  })
  expect(readErrorEvent({ type: 'content_filter' }, undefined)).toEqual({
    code: 'content_policy_violation',
    message: 'the upstream reported an error in its stream',
  })
  expect(readErrorEvent('boom', undefined).message).toBe('boom')
  const slow = { type: 'rate_limit_error', message: 'slow' }
  expect(readErrorEvent(slow, undefined)).toEqual({
    code: 'upstream_rate_limited',
    message: 'slow',
  })
})
