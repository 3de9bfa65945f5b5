// Usage of the responses style to plain usage, case by case.
import { describe, expect, test } from 'bun:test'
import { oddCount, someOf, staysSound, usageOf } from '../text/test-usage.ts'
import { readUsage } from './usage.ts'

const wire = (details?: unknown, more?: unknown) => ({
  input_tokens: 100,
  output_tokens: 7,
  ...(details !== undefined && { input_tokens_details: details }),
  ...(more !== undefined && { x_details: more }),
})
const listed = (details: unknown) => [{ prompt_tokens_details: details }]

describe('usable usage', () => {
  test.each<[unknown, ReturnType<typeof usageOf>]>([
    [wire(), usageOf(100, 7)],
    [{ ...wire(), total_tokens: 1, output_tokens_details: { x: 1 } }, usageOf(100, 7)],
    [{ input_tokens: 0, output_tokens: 0 }, usageOf(0, 0)],
    [wire(null), usageOf(100, 7)],
    [wire('none'), usageOf(100, 7)],
    [wire({ cached_tokens: 40 }), usageOf(100, 7, 40)],
    [wire({ cached_tokens: 100, cache_write_tokens: null }), usageOf(100, 7, 100)],
    [wire({ cached_tokens: 40, cache_write_tokens: 60 }), usageOf(100, 7, 40, 60)],
    [wire({ cache_creation_input_tokens: 9 }), usageOf(100, 7, 0, 9)],
    [
      wire({ cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h: 5 } }),
      usageOf(100, 7, 0, 9, 5),
    ],
    [
      wire(undefined, listed({ cached_tokens: 40, cache_creation_input_tokens: 9 })),
      usageOf(100, 7, 40, 9),
    ],
    [wire({ cached_tokens: 40 }, listed({ cached_tokens: 40 })), usageOf(100, 7, 40)],
    [wire({ cached_tokens: 0 }, listed({ cached_tokens: 40 })), usageOf(100, 7, 40)],
    [
      wire({ cache_write_tokens: 0 }, listed({ cache_creation_input_tokens: 9 })),
      usageOf(100, 7, 0, 9),
    ],
    [wire({ cached_tokens: 3 }, listed({ cached_tokens: 40 })), usageOf(100, 7, 3)],
    [wire({}, []), usageOf(100, 7)],
    [wire({}, ['x']), usageOf(100, 7)],
    [wire({}, { prompt_tokens_details: { cached_tokens: 40 } }), usageOf(100, 7)],
    [{ input_tokens: 100_000_000, output_tokens: 1 }, usageOf(100_000_000, 1)],
  ])('%j', (raw, usage) => {
    expect(readUsage(raw)).toEqual({ usage, raw })
  })
})

test('whatever comes, usage is whole, never negative, and its parts lie inside the input', () => {
  const details = someOf({
    cached_tokens: oddCount,
    cache_write_tokens: oddCount,
    cache_creation: someOf({ ephemeral_5m_input_tokens: oddCount }),
  })
  const raw = someOf({
    input_tokens: oddCount,
    output_tokens: oddCount,
    input_tokens_details: details,
    x_details: details.map(listed),
  })
  staysSound(readUsage, raw)
})
