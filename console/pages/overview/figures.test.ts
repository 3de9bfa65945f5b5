import { expect, test } from 'bun:test'
import type { UsageRow } from '../../lib/resources/usage.ts'
import {
  changeOf,
  channelRows,
  earningsOf,
  lineOf,
  marginOf,
  quantityOf,
  rankOf,
  spendByModel,
  successLine,
  topRows,
} from './figures.ts'
import type { TrafficRow } from './traffic.ts'

const row = (more: Partial<UsageRow>): UsageRow => ({
  ...{ unit: 'token', charges: 1, amount: '1.00', quantity: 1, ...more },
})
const firstMs = Date.parse('2026-11-01T00:00:00Z')
const days = [firstMs, firstMs + 86_400_000]

test('a change is a part of what was before, and nothing where nothing was', () => {
  expect(changeOf({ now: 150, before: 100 }, 'amount')).toEqual({ by: 0.5, way: 'up' })
  expect(changeOf({ now: 100, before: 100.01 }, 'amount')?.way).toBe('same')
  expect(changeOf({ now: 5, before: 0 }, 'amount')).toBeUndefined()
  expect(changeOf({ now: 5, before: undefined }, 'amount')).toBeUndefined()
  expect(changeOf({ now: 0.5, before: 1 }, 'share')).toEqual({ by: -0.5, way: 'down' })
  expect(changeOf({ now: Number.NaN, before: 1 }, 'share')).toBeUndefined()
})

test('an hour without requests is drawn as good as the one before', () => {
  const column = (ok: number, client: number) => ({ atMs: 0, ok, client, server: 0 })
  expect(successLine([column(0, 0), column(1, 1), column(0, 0), column(3, 0)])).toEqual([
    1, 0.5, 0.5, 1,
  ])
})

test('charges are told apart by model and unit, each in its place', () => {
  const rows = [
    row({ model: 'a', day: '2026-11-01', amount: '5.00' }),
    row({ model: 'b', day: '2026-11-02', unit: 'image', quantity: 3 }),
    row({ model: 'c', day: '2026-11-02', unit: 'video_second', quantity: 8, amount: '2.00' }),
  ]
  expect(spendByModel(rows, days, { by: 'day', top: 1, other: 'rest' })).toEqual([
    { name: 'a', values: [5, 0] },
    { name: 'rest', values: [0, 3] },
  ])
  expect([quantityOf(rows, 'image'), quantityOf(rows, 'video_second')]).toEqual([3, 8])
  expect(lineOf(rows, days, 'day', ({ amount }) => Number(amount))).toEqual([5, 3])
  expect(rankOf(rows, ({ model }) => model ?? undefined, 2)).toEqual([
    { name: 'a', charges: 1, amount: '5.00' },
    { name: 'c', charges: 1, amount: '2.00' },
  ])
})

test('a margin is a share of charges; with unknown costs it is at most that, or unknown', () => {
  const charged = { amount: '10.00', charges: 4, cost: '6.00', margin: '4.00' }
  expect(marginOf(row({ ...charged, cost_unknown: 0 }))).toEqual({ share: 0.4, isAtMost: false })
  expect(marginOf(row({ ...charged, cost_unknown: 1 }))).toEqual({ share: 0.4, isAtMost: true })
  expect(marginOf(row({ ...charged, cost_unknown: 4 })).share).toBeUndefined()
  expect(marginOf(row({ amount: '0.00', margin: '-1.00', cost_unknown: 0 })).share).toBeUndefined()
})

test('a bar is as high as its charges, or as its cost where that is more', () => {
  const rows = [
    row({ day: '2026-11-01', amount: '10.00', cost: '6.00', margin: '4.00' }),
    row({ day: '2026-11-02', amount: '10.00', cost: '12.00', margin: '-2.00' }),
    row({ day: '2026-11-02', amount: '3.00', cost: '0.00', margin: '3.00', cost_unknown: 1 }),
  ]
  expect(earningsOf(rows, days, 'day')).toEqual({
    ...{ covered: [6, 10], margin: [4, 0], loss: [0, 2], unknown: [0, 3] },
  })
})

test('the largest come first, each with its change; what was not there before is new', () => {
  const now = [
    row({ account: 'a', amount: '1.00' }),
    row({ account: 'b', amount: '30.00' }),
    row({ account: null, amount: '9.00' }),
    row({ account: 'c', amount: '0.00' }),
  ]
  const before = [row({ account: 'b', amount: '10.00' })]
  const of = (rows: UsageRow[] | undefined) =>
    topRows(now, rows, ({ account }) => account, 5).map(({ name, times }) => [name, times])
  expect(of(before)).toEqual([
    ['b', 3],
    ['a', Number.POSITIVE_INFINITY],
  ])
  expect(of(undefined)).toEqual([
    ['b', undefined],
    ['a', undefined],
  ])
})

test('channels have their requests of all statuses, and those without one come last', () => {
  const traffic = (channel: string, status: number, requests: number) =>
    ({ channel, status, requests }) as TrafficRow
  const now = [traffic('x', 200, 3), traffic('x', 502, 1), traffic('y', 200, 1)]
  expect(channelRows(now, [traffic('x', 200, 2)], ['z', 'x'], 5)).toEqual([
    { name: 'x', requests: 4, success: 0.75, times: 2 },
    { name: 'y', requests: 1, success: 1, times: Number.POSITIVE_INFINITY },
    { name: 'z', requests: 0, success: undefined, times: undefined },
  ])
})
