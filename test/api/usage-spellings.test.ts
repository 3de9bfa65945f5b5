// Usage that all styles read alike: both spellings, in every place, whole or in part.
import { describe, expect, test } from 'bun:test'
import { readUsage as readChat } from '../../src/providers/chat/usage.ts'
import { readUsage as readEmbeddings } from '../../src/providers/embeddings/usage.ts'
import { readUsage as readMessages } from '../../src/providers/messages/usage.ts'
import { readUsage as readResponses } from '../../src/providers/responses/usage.ts'
import { usageOf } from '../../src/providers/text/test-usage.ts'
import { tokenCount as count, maxCount, mergeUsage } from '../../src/styles/common/answer-usage.ts'

test.each<[unknown, number | undefined]>([
  [0, 0],
  [-0, 0],
  [7, 7],
  [maxCount, maxCount],
  [maxCount + 1, maxCount],
  [1e300, maxCount],
  [-1, undefined],
  [0.5, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  ['7', undefined],
  [null, undefined],
  [undefined, undefined],
  [[7], undefined],
  [true, undefined],
])('%p counts as %p', (value, counted) => {
  expect(count(value)).toBe(counted as number)
})

const inside = [
  ['chat', readChat],
  ['responses', readResponses],
] as const
const all = [...inside, ['messages', readMessages]] as const

describe.each(all)('%s', (_, read) => {
  test.each<[Record<string, unknown>, ReturnType<typeof usageOf>]>([
    [{ prompt_tokens: 5, completion_tokens: 7 }, usageOf(5, 7)],
    [{ input_tokens: 5, output_tokens: 7 }, usageOf(5, 7)],
    [{ input_tokens: 5, completion_tokens: 7 }, usageOf(5, 7)],
    [{ prompt_tokens: 5, completion_tokens: 7, input_tokens: 0, output_tokens: 0 }, usageOf(5, 7)],
    [{ prompt_tokens: 0, completion_tokens: 0, input_tokens: 5, output_tokens: 7 }, usageOf(5, 7)],
    [{ prompt_tokens: 5 }, usageOf(5, undefined)],
    [{ output_tokens: 7 }, usageOf(undefined, 7)],
    [{ prompt_tokens: 5, total_tokens: 12 }, usageOf(5, 7)],
    [{ output_tokens: 7, total_tokens: 12 }, usageOf(5, 7)],
    [{ prompt_tokens: 5, total_tokens: 4 }, usageOf(5, undefined)],
    [{ prompt_tokens: 5, completion_tokens: -7 }, usageOf(5, undefined)],
    [{ prompt_tokens: 5, completion_tokens: 1e18 }, usageOf(5, maxCount)],
  ])('reads %j', (raw, usage) => {
    expect(read(raw)).toEqual({ usage, raw })
  })

  const whole = { prompt_tokens: 100, completion_tokens: 7 }
  test.each<[object, number, number, number?]>([
    [{ prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 9 } }, 40, 9],
    [{ input_tokens_details: { cached_tokens: 40, cache_write_tokens: 9 } }, 40, 9],
    [{ cached_tokens: 40, cache_write_tokens: 9 }, 40, 9],
    [{ cache_read_input_tokens: 40, cache_creation_input_tokens: 9 }, 40, 9],
    [{ prompt_tokens_details: { cache_read_input_tokens: 40 } }, 40, 0],
    [{ prompt_tokens_details: { cache_creation_input_tokens: 9 } }, 0, 9],
    [{ prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }, 40, 0],
    [{ cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 } }, 0, 9, 5],
    [{ cached_tokens: 0, prompt_tokens_details: { cached_tokens: 40 } }, 40, 0],
    // Parts that contradict each other are clamped.
    [{ prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 60 } }, 60, 40],
    [{ prompt_tokens_details: { cached_tokens: 101, cache_write_tokens: 5 } }, 100, 0],
    [{ prompt_tokens_details: { cached_tokens: -1, cache_write_tokens: 5 } }, 0, 5],
    [{ prompt_tokens_details: { cached_tokens: '4', cache_write_tokens: 1e300 } }, 0, 100],
  ])('finds cached and written tokens in %j', (more, cached, written, hour = 0) => {
    expect(read({ ...whole, ...more }).usage).toEqual(usageOf(100, 7, cached, written, hour))
  })

  test('reads no usage where there is none', () => {
    const none = [undefined, null, 5, 'x', [], {}, { cached_tokens: 5 }, { prompt_tokens: -1 }]
    for (const raw of none) expect(read(raw)).toEqual({ usage: undefined, raw: raw ?? undefined })
  })
})

test.each(inside)('%s counts cached tokens inside input_tokens', (_, read) => {
  const raw = { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 40 }
  expect(read(raw).usage).toEqual(usageOf(100, 7, 40))
})

test('messages counts them beside', () => {
  const raw = { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 40 }
  expect(readMessages(raw).usage).toEqual(usageOf(140, 7, 40))
})

test('embeddings have both spellings, too', () => {
  expect(readEmbeddings({ input_tokens: 8 }).usage).toEqual(usageOf(8, 0))
  expect(readEmbeddings({ prompt_tokens: 8 }).usage).toEqual(usageOf(8, 0))
})

test('later usage adds to earlier; what it leaves out or nulls stays', () => {
  expect(mergeUsage({ a: 1, b: 2, c: 3 }, { a: 9, b: null, d: 0 })).toEqual({
    a: 9,
    b: 2,
    c: 3,
    d: 0,
  })
  expect(mergeUsage(undefined, { a: 1 })).toEqual({ a: 1 })
  expect(mergeUsage({ a: 1 }, 'x')).toEqual({ a: 1 })
  expect(mergeUsage('x', null)).toBe('x')
})
