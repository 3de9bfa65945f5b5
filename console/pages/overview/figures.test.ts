import { expect, test } from 'bun:test'
import type { UsageRow } from '../../lib/resources/usage.ts'
import { changeOf, lineOf, quantityOf, rankOf, spendByModel, successLine } from './figures.ts'

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
