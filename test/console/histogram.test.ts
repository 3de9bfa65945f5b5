// Which range of time the histogram over the requests shows, and what it counts.
import { expect, test } from 'bun:test'
import { type LoggedRequest, tokensPerSecond } from '../../console/lib/resources/request.ts'
import { trafficOf } from '../../console/pages/channels/traffic-rows.ts'
import { bucketsIn, timeRangeFor } from '../../console/pages/requests/time-buckets.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const nowMs = Date.parse('2026-11-15T12:34:56Z')
const at = (text: string) => Date.parse(`2026-11-${text}Z`)
const nothing = { from: undefined, to: undefined, isOfAccount: false, nowMs }

test('the last day, in steps on the clock', () => {
  expect(timeRangeFor(nothing)).toEqual({
    fromMs: at('14T12:30:00'),
    toMs: at('15T12:45:00'),
    stepMs: 15 * minuteMs,
    by: 'slot',
  })
})

test('few enough columns for any stretch, by what the gateway counts', () => {
  for (const days of [0.001, 0.04, 0.5, 1, 2, 7, 30, 90, 400, 4_000]) {
    const from = new Date(nowMs - days * dayMs).toISOString()
    for (const isOfAccount of [false, true]) {
      const { fromMs, toMs, stepMs, by } = timeRangeFor({ ...nothing, from, isOfAccount })
      expect((toMs - fromMs) / stepMs).toBeLessThanOrEqual(98)
      expect(fromMs % stepMs).toBe(0)
      expect(toMs).toBeGreaterThanOrEqual(nowMs)
      if (isOfAccount) expect(stepMs).toBeGreaterThanOrEqual(60 * minuteMs)
      // As far as the admin API goes at once.
      const most = { slot: 8, hour: 100, day: 3_660 }[by]
      expect((toMs - fromMs) / dayMs).toBeLessThanOrEqual(most)
    }
  }
})

test('a stretch that ends before it begins, or is no time at all, is shown as something', () => {
  const turned = timeRangeFor({
    ...nothing,
    from: '2026-11-15T10:00:00Z',
    to: '2026-11-15T09:00:00Z',
  })
  expect(turned.toMs).toBeGreaterThan(turned.fromMs)
  expect(timeRangeFor({ ...nothing, from: 'x' })).toEqual(timeRangeFor(nothing))
})

test('every step has its column, and rows fall where they belong', () => {
  const stretch = timeRangeFor(nothing)
  const row = (slot: string, status: number, requests: number) => ({
    slot: `2026-11-${slot}Z`,
    status,
    requests,
    charge: '0',
    retries: 0,
    input_tokens: 0,
    cache_read_tokens: 0,
    average_ms: null,
    average_first_byte_ms: null,
    p50_ms: null,
    p95_ms: null,
    p99_ms: null,
  })
  const columns = bucketsIn(stretch, [
    row('14T12:30:00', 200, 3),
    row('14T12:40:00', 200, 4),
    row('14T12:40:00', 404, 1),
    row('15T12:40:00', 502, 2),
    row('13T00:00:00', 200, 99),
  ])
  expect(columns).toHaveLength(97)
  expect(columns[0]).toEqual({ fromMs: stretch.fromMs, ok: 7, client: 1, server: 0 })
  expect(columns.at(-1)).toMatchObject({ ok: 0, server: 2 })
  expect(columns.reduce((sum, { ok, client, server }) => sum + ok + client + server, 0)).toBe(10)
})

test('a channel fails by what its upstream did, not by what callers did', () => {
  const row = {
    charge: '0',
    retries: 0,
    input_tokens: 0,
    cache_read_tokens: 0,
    average_ms: 1,
    average_first_byte_ms: 1,
    p95_ms: 1,
    p99_ms: 1,
    p50_ms: 7,
  }
  const found = trafficOf(
    {
      whole: [{ ...row, channel: 'a', requests: 10, failed_attempts: 3 }],
      statuses: [
        { ...row, channel: 'a', requests: 6, status: 200 },
        { ...row, channel: 'a', requests: 3, status: 400 },
        { ...row, channel: 'a', requests: 1, status: 502 },
      ],
      hours: [
        { ...row, channel: 'a', requests: 9, hour: '2026-11-15T01:00:00Z', failed_attempts: 0 },
        { ...row, channel: 'a', requests: 1, hour: '2026-11-15T02:00:00Z', failed_attempts: 3 },
      ],
    },
    at('15T00:00:00'),
  )
  const { failed, attempts, p50Ms, failedByHour } = found.get('a')!
  // Nine were answered; of the failed ones another channel served two in the end.
  expect([failed, attempts, p50Ms]).toEqual([3, 12, 7])
  expect(failedByHour.slice(0, 4)).toEqual([0, 0, 3, 0])
})

test('tokens per second are those of a stream from its first byte on, where both are known', () => {
  const usage = { output_tokens: 50, input_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 }
  const rate = (more: object) =>
    tokensPerSecond({
      stream: true,
      usage,
      first_byte_ms: 500,
      total_ms: 2500,
      ...more,
    } as LoggedRequest)
  expect(rate({})).toBe(25)
  expect(rate({ total_ms: 800 })).toBe(166.7)
  for (const more of [
    { stream: false },
    { usage: null },
    { usage: { images: 1 } },
    { first_byte_ms: null },
    { total_ms: 500 },
    { total_ms: 400 },
  ]) {
    expect(rate(more)).toBeUndefined()
  }
})
