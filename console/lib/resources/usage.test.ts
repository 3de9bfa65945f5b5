import { expect, test } from 'bun:test'
import {
  decimalOf,
  groupingFor,
  groupRows,
  measured,
  sumsOf,
  timesOf,
  topOf,
  type UsageRow,
} from './usage.ts'

const row = (model: string, day: string, amount: string, account = 'acme'): UsageRow => ({
  ...{ model, day, account, amount, unit: 'token', charges: 1, quantity: 1 },
})

test('amounts add up to the billionth, as text', () => {
  const rows = Array.from({ length: 10 }, () => row('a', '2026-11-01', '0.100000001'))
  const [[, sum] = ['', 0n]] = sumsOf(rows, { group: 'model', subgroup: undefined }, 'amount')
  expect(decimalOf(sum)).toBe('1.00000001')
  expect(decimalOf(measured(row('a', '', '-12.5'), 'amount'))).toBe('-12.50')
  expect(decimalOf(measured(row('a', '', '9007199254740993.000000001'), 'amount'))).toBe(
    '9007199254740993.000000001',
  )
})

test('the largest groups are shown one by one and the rest as one, by one key or two', () => {
  const rows = [
    row('a', '2026-11-01', '1.00'),
    row('b', '2026-11-01', '5.00'),
    row('b', '2026-11-02', '5.00', 'other'),
    row('c', '2026-11-02', '3.00'),
  ]
  const how = { rollUp: 'day', measure: 'amount', top: 1, other: 'rest' } as const
  const { names, values } = groupRows(rows, { group: 'model', subgroup: undefined }, how)
  expect(names).toEqual(['b', 'rest'])
  expect([...values.get('rest')!].map(([day, sum]) => [day, decimalOf(sum)])).toEqual([
    ['2026-11-01', '1.00'],
    ['2026-11-02', '3.00'],
  ])
  const two = sumsOf(rows, { group: 'model', subgroup: 'account' }, 'amount')
  expect(topOf(two, 2, 'rest').map(([name, sum]) => [name, decimalOf(sum)])).toEqual([
    ['b / acme', '5.00'],
    ['b / other', '5.00'],
    ['rest', '4.00'],
  ])
})

test('quantities of different units are not added', () => {
  const rows = [
    { ...row('a', '2026-11-01', '1.00'), unit: 'image', quantity: 3 },
    { ...row('a', '2026-11-01', '1.00'), unit: 'video_second', quantity: 8 },
    { ...row('b', '2026-11-01', '1.00'), unit: 'video_token', quantity: 50_000 },
  ]
  const keys = { group: 'model', subgroup: undefined } as const
  const sums = (measure: 'images' | 'video_seconds' | 'video_tokens') =>
    sumsOf(rows, keys, measure).map(([name, sum]) => [name, decimalOf(sum)])
  expect(sums('images')).toEqual([
    ['a', '3.00'],
    ['b', '0.00'],
  ])
  expect(sums('video_tokens')[0]).toEqual(['b', '50000.00'])
  expect(groupingFor(keys, 'images')).toBe('model,unit')
  expect(groupingFor({ group: 'unit', subgroup: 'model' }, 'images')).toBe('unit,model')
  expect(groupingFor(keys, 'amount')).toBe('model')
})

test('the days of a stretch are all there, the one under way among them', () => {
  const stretch = { from: '2026-10-30T19:00:00Z', to: '2026-11-01T19:00:00Z' }
  expect(timesOf(stretch, 'day')).toEqual(['2026-10-30', '2026-10-31', '2026-11-01'])
  expect(timesOf(stretch, 'month')).toEqual(['2026-10', '2026-11'])
  expect(timesOf(stretch, 'hour')).toHaveLength(48)
})
