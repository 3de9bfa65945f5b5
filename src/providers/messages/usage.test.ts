// Usage of the messages style to plain usage: the input excludes cached and written tokens.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { oddCount, someOf, staysSound, usageOf } from '../text/test-usage.ts'
import { readUsage } from './usage.ts'

const wire = (more: object = {}) => ({ input_tokens: 10, output_tokens: 7, ...more })

describe('usable usage', () => {
  test.each<[unknown, ReturnType<typeof usageOf>]>([
    [wire(), usageOf(10, 7)],
    [wire({ service_tier: 'standard', server_tool_use: null }), usageOf(10, 7)],
    [wire({ input_tokens: 0, output_tokens: 0 }), usageOf(0, 0)],
    [wire({ cache_read_input_tokens: 1000 }), usageOf(1010, 7, 1000)],
    [wire({ cache_read_input_tokens: null, cache_creation_input_tokens: null }), usageOf(10, 7)],
    [
      wire({ cache_creation_input_tokens: 500, cache_read_input_tokens: 1000 }),
      usageOf(1510, 7, 1000, 500),
    ],
    [
      wire({ input_tokens: 0, cache_creation_input_tokens: 5, cache_read_input_tokens: 6 }),
      usageOf(11, 7, 6, 5),
    ],
    [
      wire({ cache_creation: { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 3 } }),
      usageOf(22, 7, 0, 12, 3),
    ],
    [
      wire({
        cache_creation_input_tokens: 12,
        cache_creation: { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 3 },
      }),
      usageOf(22, 7, 0, 12, 3),
    ],
    [
      wire({ input_tokens: 50_000_000, cache_read_input_tokens: 50_000_000 }),
      usageOf(100_000_000, 7, 50_000_000),
    ],
  ])('%j', (raw, usage) => {
    const { usage: read, raw: kept } = readUsage(raw)
    expect([read, kept]).toEqual([usage, raw])
  })
})

describe('passes', () => {
  const pass = (written: number, more: object = {}) => ({
    ...{ type: 'message', input_tokens: 10, output_tokens: 7 },
    ...{ cache_creation_input_tokens: written, ...more },
  })
  const split = { cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 40 } }

  test('that do not tell lifetimes apart have those beside the list', () => {
    const raw = wire({ ...split, iterations: [pass(30), pass(15, { model: 'other' })] })
    expect(readUsage(raw).usage).toEqual({
      ...usageOf(65, 14, 0, 45, 40),
      named: [{ model: 'other', ...usageOf(25, 7, 0, 15, 10) }],
    } as never)
  })

  test('that do have their own', () => {
    const own = { cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 } }
    const raw = wire({ ...split, iterations: [pass(30, own), pass(15)] })
    expect(readUsage(raw).usage).toEqual(usageOf(65, 14, 0, 45))
  })
})

test('whatever comes, usage is whole, never negative, and its parts lie inside the input', () => {
  const raw = someOf({
    input_tokens: oddCount,
    output_tokens: oddCount,
    cache_read_input_tokens: oddCount,
    cache_creation_input_tokens: oddCount,
    cache_creation: someOf({ ephemeral_5m_input_tokens: oddCount, ephemeral_1h: oddCount }),
    iterations: fc.array(
      someOf({
        input_tokens: fc.nat(300),
        output_tokens: fc.nat(300),
        cache_creation_input_tokens: fc.nat(300),
        model: fc.constantFrom('a', 'b'),
      }),
      { maxLength: 3 },
    ),
  })
  staysSound(readUsage, raw)
})
