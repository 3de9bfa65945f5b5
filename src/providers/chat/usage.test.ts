// Usage on the wire to plain usage, case by case.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readUsage } from './usage.ts'

const of = (input: number, output: number, read = 0, write = 0) => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: read,
  cacheWriteTokens: write,
})
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
      of(100, 7, 0, 12),
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

describe('what is no usage', () => {
  test.each<[unknown]>([
    [undefined],
    [null],
    [5],
    ['5'],
    [[]],
    [{}],
    [{ prompt_tokens: 5 }],
    [{ completion_tokens: 7 }],
    [{ prompt_tokens: -1, completion_tokens: 7 }],
    [{ prompt_tokens: 5, completion_tokens: -7 }],
    [{ prompt_tokens: 5.5, completion_tokens: 7 }],
    [{ prompt_tokens: '5', completion_tokens: 7 }],
    [{ prompt_tokens: null, completion_tokens: 7 }],
    [{ prompt_tokens: Number.NaN, completion_tokens: 7 }],
    [{ prompt_tokens: 1e18, completion_tokens: 7 }],
    [{ prompt_tokens: 5, completion_tokens: 1e9 }],
    [{ prompt_tokens: 100_000_001, completion_tokens: 7 }],
    [wire({ cached_tokens: 101 })],
    [wire({ cached_tokens: -1 })],
    [wire({ cached_tokens: '4' })],
    [wire({ cached_tokens: 60, cache_creation_input_tokens: 41 })],
    [wire({ cache_creation_input_tokens: -1 })],
    [wire({ cache_creation: { ephemeral_5m_input_tokens: -9 } })],
    [wire({ cache_creation: { ephemeral_5m_input_tokens: 1e300 } })],
  ])('%j', (raw) => {
    expect(readUsage(raw)).toEqual({ usage: undefined, raw: raw ?? undefined })
  })
})

test('whatever comes, usage is whole, never negative, and its parts lie inside the input', () => {
  const odd = fc.oneof(fc.integer(), fc.double(), fc.jsonValue(), fc.nat(200))
  const details = fc.record(
    {
      cached_tokens: odd,
      cache_creation_input_tokens: odd,
      cache_creation: fc.record({ ephemeral_5m_input_tokens: odd }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  )
  const raw = fc.record(
    { prompt_tokens: odd, completion_tokens: odd, prompt_tokens_details: details },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(raw, fc.jsonValue()), (value) => {
      const { usage } = readUsage(value)
      if (usage === undefined) return
      for (const count of Object.values(usage)) {
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      }
      expect(usage.cacheReadTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.inputTokens)
    }),
    { numRuns: 2_000 },
  )
})
