import { expect, test } from 'bun:test'
import type { Price } from '../../contract/price.ts'
import { explainTokens } from './explain.ts'

const million = 1_000_000_000n
const atNight = { fromMinute: 30, toMinute: 510, zone: 'UTC', factorNanos: million / 2n }
const terms = {
  unit: 'token',
  tiers: [{ inputNanos: 4n * million, outputNanos: 16n * million }],
  hours: [atNight],
} as const
const price: Price = { id: 'o', model: 'txta-max', terms, effectiveFromMs: 0, source: 'api' }
const none = { cacheReadTokens: 0, cacheWriteTokens: 0 }
const hours = { hours: 0 }

test('hours of a price multiply its own lines', () => {
  expect(
    explainTokens(price, { ...none, inputTokens: 20, outputTokens: 20 }, 'CNY', hours),
  ).toEqual([
    'usage: 20 input tokens (0 read from cache, 0 written to cache), 20 output tokens',
    'input: 20 x 4.00 per million = 0.00008',
    'output: 20 x 16.00 per million = 0.00032',
    'hours 00:30-08:30 UTC: everything x 0.5',
    'sum 0.0002, rounded half up to 0.0002 CNY',
  ])
})

test('beside parts of another model it is said which lines the hours multiply', () => {
  const theirs = { ...none, inputTokens: 20, outputTokens: 20 }
  const others = [{ ...theirs, model: 'txta-turbo', priceId: 'p' }]
  const usage = { ...none, inputTokens: 40, outputTokens: 40, others }
  const turbo = {
    unit: 'token',
    tiers: [{ inputNanos: (3n * million) / 10n, outputNanos: (6n * million) / 10n }],
  } as const
  expect(explainTokens(price, usage, 'CNY', hours, () => turbo)).toEqual([
    'usage: 40 input tokens (0 read from cache, 0 written to cache), 40 output tokens',
    'input: 20 x 4.00 per million = 0.00008',
    'output: 20 x 16.00 per million = 0.00032',
    'hours 00:30-08:30 UTC: everything of txta-max x 0.5',
    'txta-turbo input: 20 x 0.30 per million = 0.000006',
    'txta-turbo output: 20 x 0.60 per million = 0.000012',
    'sum 0.000218, rounded half up to 0.000218 CNY',
  ])
})
