// Usage of embeddings to plain usage: input only.
import { expect, test } from 'bun:test'
import { oddCount, someOf, staysSound, usageOf } from '../text/test-usage.ts'
import { readUsage } from './usage.ts'

test.each<[unknown, ReturnType<typeof usageOf>]>([
  [{ prompt_tokens: 8, total_tokens: 8 }, usageOf(8, 0)],
  [{ prompt_tokens: 8 }, usageOf(8, 0)],
  [{ total_tokens: 8 }, usageOf(8, 0)],
  [{ prompt_tokens: null, total_tokens: 8 }, usageOf(8, 0)],
  [{ prompt_tokens: 8, completion_tokens: 99, total_tokens: 107 }, usageOf(8, 0)],
  [{ prompt_tokens: 0, total_tokens: 5 }, usageOf(0, 0)],
])('%j is usage', (raw, usage) => {
  expect(readUsage(raw)).toEqual({ usage, raw })
})

test.each<[unknown]>([
  [undefined],
  [null],
  [8],
  [[8]],
  [{}],
  [{ prompt_tokens: -1 }],
  [{ prompt_tokens: 1.5 }],
  [{ prompt_tokens: '8' }],
  [{ prompt_tokens: Number.NaN }],
])('%j is no usage', (raw) => {
  expect(readUsage(raw)).toEqual({ usage: undefined, raw: raw ?? undefined })
})

test('whatever comes, usage is whole, never negative, and has no output', () => {
  staysSound(readUsage, someOf({ prompt_tokens: oddCount, total_tokens: oddCount }))
})
