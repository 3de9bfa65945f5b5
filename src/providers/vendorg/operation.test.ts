import { describe, expect, test } from 'bun:test'
import { readOperation } from './operation.ts'

const name = 'models/m/operations/a'
const uri = 'https://files.example/v1beta/files/x:download?alt=media'
const done = (made: unknown) => ({ name, done: true, response: { generateVideoResponse: made } })
const read = (body: Record<string, unknown>) => readOperation(body, 'r-1')

test.each([{ name }, { name, done: false }, { name, done: 'true' }, { name, metadata: {} }])(
  '%j is still running',
  (body) => expect(read(body)).toEqual({ state: 'running' }),
)

test.each([{}, { error: { code: 5 } }, { name: 7 }, { name: '' }])('%j is no operation', (body) => {
  expect(read(body)).toBeUndefined()
})

describe('an operation that is done', () => {
  test('has the video, and no usage when none is told', () => {
    expect(read(done({ generatedSamples: [{ video: { uri } }] }))).toEqual({
      state: 'succeeded',
      media: [{ kind: 'video', url: uri }],
      usage: {},
      raw: undefined,
    })
  })

  test.each<[unknown, object]>([
    [8, { outputSeconds: 8 }],
    [5.5, { outputSeconds: 5.5 }],
    ['8', {}],
    [0, {}],
    [-1, {}],
    [8_000, {}],
    [null, {}],
  ])('with %p seconds in its metadata reports %j', (durationSeconds, usage) => {
    const report = read(
      done({ generatedSamples: [{ video: { uri }, metadata: { durationSeconds } }] }),
    )
    expect(report).toMatchObject({ state: 'succeeded', usage, raw: { durationSeconds } })
  })

  test.each([
    [undefined],
    [{}],
    [{ generatedSamples: [] }],
    [{ generatedSamples: {} }],
    [{ generatedSamples: [null, {}, { video: null }, { video: { uri: 'gs://b/x' } }] }],
    [{ generatedSamples: [{ video: { uri: 'https://' } }] }],
    [{ raiMediaFilteredCount: 0 }],
  ])('without a video that can be fetched (%j) has none', (made) => {
    expect(read(done(made))).toMatchObject({ state: 'succeeded', media: [] })
  })

  test('and held back has failed, with the reasons', () => {
    const raiMediaFilteredReasons = ['It shows a person.', 7, 'It is loud.']
    expect(read(done({ raiMediaFilteredCount: 1, raiMediaFilteredReasons }))).toEqual({
      state: 'failed',
      error: {
        code: 'content_policy_violation',
        message: 'It shows a person. It is loud.',
        upstreamRequestId: 'r-1',
      },
      raw: { raiMediaFilteredCount: 1, raiMediaFilteredReasons },
    })
    expect(read(done({ raiMediaFilteredCount: 2 }))).toMatchObject({
      error: { code: 'content_policy_violation', message: expect.stringContaining('held') },
    })
  })

  test('and held back in part has what is left', () => {
    const made = { generatedSamples: [{ video: { uri } }], raiMediaFilteredCount: 1 }
    expect(read(done(made))).toMatchObject({ state: 'succeeded', media: [{ url: uri }] })
  })

  test.each([
    [{ code: 13, message: 'broke' }, 'upstream_error', 'broke'],
    [{ code: 13 }, 'upstream_error', 'the upstream failed without a reason'],
    [{ message: 'broke' }, 'upstream_error', 'broke'],
    [{ code: 3, message: 'bad image' }, 'upstream_invalid_request', 'bad image'],
    [{ code: 3, message: 'violates our usage guidelines' }, 'content_policy_violation', 'violates'],
    [{ code: 13, message: 'safety system down' }, 'upstream_error', 'safety'],
    [{ code: 4, message: 'late' }, 'upstream_timeout', 'late'],
    [{ code: 7, message: 'no' }, 'upstream_permission_denied', 'no'],
    [{ code: 8, message: 'quota' }, 'upstream_rate_limited', 'quota'],
  ] as const)('and failed with %j is %s', (error, code, words) => {
    expect(read({ name, done: true, error })).toMatchObject({
      state: 'failed',
      error: { code, message: expect.stringContaining(words) },
      raw: { error },
    })
  })
})
