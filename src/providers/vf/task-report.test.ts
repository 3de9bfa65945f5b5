import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TaskReport } from '../../contract/provider.ts'
import { readReport, usageOf } from './task-report.ts'

const read = (output: unknown, usage?: unknown) =>
  readReport({ output, usage, request_id: 'r-1' }, 'vfa-2.7-t2v', 'r-1')

const statusRows: [string, TaskReport['state']][] = [
  ['PENDING', 'queued'],
  ['queued', 'queued'],
  ['RUNNING', 'running'],
  ['SUSPENDED', 'running'],
  ['In-Progress', 'running'],
  ['POLISHING', 'running'],
  ['CONSTRUCTOR', 'running'],
  ['SUCCEEDED', 'succeeded'],
  ['Succeeded', 'succeeded'],
  ['success', 'succeeded'],
  ['COMPLETED', 'succeeded'],
  [' done ', 'succeeded'],
  ['FAILED', 'failed'],
  ['error', 'failed'],
  ['expired', 'failed'],
  ['moderation', 'failed'],
  ['CANCELED', 'cancelled'],
  ['cancelled', 'cancelled'],
  ['UNKNOWN', 'missing'],
  ['not found', 'missing'],
]

describe('the status', () => {
  test.each(statusRows)('%p means %s', (word, state) => {
    expect(read({ task_status: word })?.state).toBe(state)
  })

  const others = [undefined, null, 'SUCCEEDED', [], {}]
  const statuses = ['', 3, null].map((task_status) => ({ task_status }))
  test.each([...others, ...statuses].map((output) => [output] as const))(
    'an output of %j is no account of a task',
    (output) => {
      expect(read(output)).toBeUndefined()
    },
  )
})

describe('a task that succeeded', () => {
  const url = 'https://out.example/x.mp4?Expires=1767380740&Signature=a%2Bb'

  test('has its video, its seconds and the usage as it came', () => {
    const usage = { duration: 5, input_video_duration: 0, output_video_duration: 5, SR: '720' }
    expect(read({ task_status: 'SUCCEEDED', video_url: url }, usage)).toEqual({
      state: 'succeeded',
      media: [{ kind: 'video', url, expiresAtMs: 1_767_380_740_000 }],
      usage: { outputSeconds: 5 },
      raw: usage,
    })
  })

  test.each([
    undefined,
    null,
    '',
    'x.mp4',
    'ftp://h/x.mp4',
    'javascript:alert(1)',
    'http://',
    7,
    {},
  ])('has no video when its address is %p', (video_url) => {
    expect(read({ task_status: 'SUCCEEDED', video_url })).toMatchObject({ media: [], usage: {} })
  })

  test.each([
    ['?expires=1767380740', 1_767_380_740_000],
    ['?a=b', undefined],
    ['?Expires=', undefined],
    ['?Expires=soon', undefined],
    ['?Expires=3600', undefined],
    ['?Expires=-1767380740', undefined],
    ['?Expires=1767380740000', undefined],
    ['?Expires=99999999999', undefined],
  ])('with %s in its address expires at %p', (query, expected) => {
    const video_url = `https://out.example/x.mp4${query}`
    const report = read({ task_status: 'SUCCEEDED', video_url })
    expect(report?.state === 'succeeded' && report.media[0]?.expiresAtMs).toBe(expected as number)
  })
})

describe('the seconds of finished video', () => {
  const rows: [unknown, number | undefined][] = [
    [{ output_video_duration: 5 }, 5],
    [{ output_video_duration: '5' }, 5],
    [{ output_video_duration: '5.5' }, 5.5],
    [{ output_video_duration: 0, duration: 5 }, 0],
    [{ output_video_duration: 5, duration: 8, input_video_duration: 3 }, 5],
    [{ duration: 8, input_video_duration: 3 }, 5],
    [{ duration: '8', input_video_duration: '3' }, 5],
    [{ duration: 5.3, input_video_duration: 0.1 }, 5.2],
    [{ output_video_duration: -1, duration: 8, input_video_duration: 3 }, 5],
    [{ duration: 3, input_video_duration: 8 }, undefined],
    [{ duration: 8, input_video_duration: 'x' }, undefined],
    [{ output_video_duration: Number.NaN }, undefined],
    [{ output_video_duration: 1e18 }, undefined],
    [{ output_video_duration: 5000 }, undefined],
    [{ output_video_duration: '1e2' }, undefined],
    [{ output_video_duration: '-5' }, undefined],
    [{ output_video_duration: true }, undefined],
    [{ video_count: 1 }, undefined],
    ['5', undefined],
    [null, undefined],
    [undefined, undefined],
  ]
  test.each(rows)('of %j', (usage, expected) => {
    expect(usageOf(usage, 'vfa-2.7-r2v').outputSeconds).toBe(expected as number)
  })

  test('are the whole duration only where no video can have gone in', () => {
    expect(usageOf({ duration: 5 }, 'vfa-2.7-t2v')).toEqual({ outputSeconds: 5 })
    expect(usageOf({ duration: 5 }, 'vfb-1.1-i2v')).toEqual({ outputSeconds: 5 })
    expect(usageOf({ duration: 5 }, 'vfa-2.7-videoedit')).toEqual({})
  })
})

describe('a task that failed', () => {
  test.each([
    ['DataInspectionFailed', 'content_policy_violation'],
    ['InvalidParameter.Prompt', 'upstream_invalid_request'],
    ['InvalidURL', 'upstream_invalid_request'],
    ['InternalError.Algo', 'upstream_error'],
    [undefined, 'upstream_error'],
  ])('with %p is a %s', (code, expected) => {
    const output = { task_status: 'FAILED', code, message: 'why' }
    expect(read(output)).toMatchObject({
      state: 'failed',
      error: { code: expected, message: 'why', upstreamRequestId: 'r-1' },
      raw: output,
    } as object)
  })

  test('without a reason says so, and keeps prompts out of what is reported', () => {
    const report = read({ task_status: 'FAILED', orig_prompt: 'a secret' })
    expect(report).toMatchObject({ error: { message: 'the upstream failed without a reason' } })
    expect(JSON.stringify(report)).not.toContain('secret')
  })

  test('by moderation was refused for its content', () => {
    const error = { code: 'content_policy_violation' }
    expect(read({ task_status: 'moderation' })).toMatchObject({ state: 'failed', error })
  })
})

test('no answer makes it throw, and seconds are never beyond belief', () => {
  const names = ['task_status', 'video_url', 'code', 'message', 'duration', 'input_video_duration']
  const some = fc.dictionary(
    fc.constantFrom(...names, 'output_video_duration'),
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('SUCCEEDED', 'FAILED', 'https://h/x?Expires=1'),
      fc.double(),
    ),
  )
  fc.assert(
    fc.property(fc.oneof(some, fc.jsonValue()), some, (output, usage) => {
      const report = read(output, usage)
      const seconds = report?.state === 'succeeded' ? report.usage.outputSeconds : undefined
      if (seconds !== undefined) expect(seconds >= 0 && seconds <= 600).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
