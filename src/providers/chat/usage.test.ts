// Chat usage to plain usage, case by case.
import { describe, expect, test } from 'bun:test'
import { oddCount, usageOf as of, someOf, staysSound } from '../text/test-usage.ts'
import { readUsage } from './usage.ts'

const wire = (details: unknown) => ({
  prompt_tokens: 100,
  completion_tokens: 7,
  prompt_tokens_details: details,
})

describe('usable usage', () => {
  test.each<[unknown, ReturnType<typeof of>]>([
    [{ prompt_tokens: 5, completion_tokens: 7 }, of(5, 7)],
    [{ prompt_tokens: 5, completion_tokens: 7, total_tokens: 99, other: 'x' }, of(5, 7)],
    [{ prompt_tokens: 0, completion_tokens: 0 }, of(0, 0)],
    [wire(null), of(100, 7)],
    [wire({}), of(100, 7)],
    [wire({ cached_tokens: 0 }), of(100, 7)],
    [wire({ cached_tokens: 100 }), of(100, 7, 100)],
    [wire({ cached_tokens: null }), of(100, 7)],
    [wire({ cached_tokens: 40, cache_creation_input_tokens: 60 }), of(100, 7, 40, 60)],
    [wire({ cache_creation_input_tokens: null }), of(100, 7)],
    [wire({ cache_creation: { cache_creation_input_tokens: 9 } }), of(100, 7, 0, 9)],
    [wire({ cache_creation: { ephemeral_5m_input_tokens: 9 } }), of(100, 7, 0, 9)],
    [
      wire({ cache_creation: { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 3 } }),
      of(100, 7, 0, 12, 3),
    ],
    [
      wire({
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 9 },
      }),
      of(100, 7, 0, 9),
    ],
    [wire('none'), of(100, 7)],
    [{ prompt_tokens: 100_000_000, completion_tokens: 1 }, of(100_000_000, 1)],
  ])('%j', (raw, usage) => {
    expect(readUsage(raw)).toEqual({ usage, raw })
  })
})

test('whatever comes, usage is whole, never negative, and its parts lie inside the input', () => {
  const details = someOf({
    cached_tokens: oddCount,
    cache_creation_input_tokens: oddCount,
    cache_creation: someOf({ ephemeral_5m_input_tokens: oddCount }),
  })
  const raw = someOf({
    prompt_tokens: oddCount,
    completion_tokens: oddCount,
    prompt_tokens_details: details,
  })
  staysSound(readUsage, raw)
})
