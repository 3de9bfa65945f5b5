// The maximum usage of a call, and the handling of reported usage above it.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { builtinModels } from '../../catalog/builtin.ts'
import type { Model } from '../../contract/catalog.ts'
import type { InputBound, TextCall } from '../../contract/requests.ts'
import { boundsOf, completeUsage, isComplete, withinBounds } from './text-bounds.ts'

const model: Model = {
  ...builtinModels[0]!,
  contextWindow: 1_000,
  maxOutputTokens: 100,
  maxTokensPerImage: 50,
}
const call = (bound: Partial<InputBound>, more: Partial<TextCall> = {}): TextCall => ({
  interface: 'chat',
  model: 'm',
  stream: false,
  wantsUsage: false,
  body: '{}',
  fields: {},
  inputTokens: 1,
  inputBound: { maxTextTokens: 10, images: 0, isOpen: false, inputs: 1, ...bound },
  choices: 1,
  ...more,
})

describe('a call is bounded', () => {
  test.each<[string, TextCall, [number, number]]>([
    ['by its text and the longest answer', call({}), [10, 100]],
    ['by its images', call({ images: 3 }), [160, 100]],
    ['by the window', call({ maxTextTokens: 5_000 }), [1_000, 100]],
    ['by the window where it is open', call({ isOpen: true }), [1_000, 100]],
    ['by one window for each input', call({ maxTextTokens: 5_000, inputs: 3 }), [3_000, 100]],
    ['by what the caller says', call({}, { maxOutputTokens: 7 }), [10, 7]],
    ['by the model, whatever the caller says', call({}, { maxOutputTokens: 1e15 }), [10, 100]],
    ['for every answer', call({}, { choices: 5 }), [10, 500]],
  ])('%s', (_, asked, [input, output]) => {
    expect(boundsOf(model, asked)).toMatchObject({ inputTokens: input, outputTokens: output })
  })

  test('generously when its model declares nothing', () => {
    const { contextWindow: _, maxOutputTokens: __, maxTokensPerImage: ___, ...bare } = model
    const bounds = boundsOf(bare, call({ isOpen: true }))
    expect(bounds).toEqual({
      inputTokens: 1_000_000,
      windowTokens: 1_000_000,
      outputTokens: 32_768,
    })
  })
})

test('usage within the bounds stays as it is, and any other is cut to them', () => {
  const counts = fc.nat(3_000)
  fc.assert(
    fc.property(counts, counts, counts, counts, (input, output, read, written) => {
      const cacheReadTokens = Math.min(read, input)
      const cacheWriteTokens = Math.min(written, input - cacheReadTokens)
      const usage = { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens }
      const bounds = { inputTokens: 1, windowTokens: 1_000, outputTokens: 100 }
      const within = withinBounds(usage, bounds)
      if (input <= 1_000 && output <= 100) expect(within).toBe(usage)
      expect(within.inputTokens).toBe(Math.min(input, 1_000))
      expect(within.outputTokens).toBe(Math.min(output, 100))
      expect(within.cacheReadTokens + within.cacheWriteTokens).toBeLessThanOrEqual(
        within.inputTokens,
      )
    }),
  )
})

test('a side that was not reported is counted', () => {
  const cache = { cacheReadTokens: 3, cacheWriteTokens: 0 }
  const both = { inputTokens: 5, outputTokens: 7, ...cache }
  expect(completeUsage(both, 1, () => 1)).toEqual(both)
  expect(completeUsage({ ...both, outputTokens: undefined }, 1, () => 9).outputTokens).toBe(9)
  expect(completeUsage({ ...both, inputTokens: undefined }, 2, () => 9).inputTokens).toBe(3)
  expect(completeUsage({ ...both, inputTokens: undefined }, 8, () => 9).inputTokens).toBe(8)
  expect([isComplete(both), isComplete({ ...both, inputTokens: undefined })]).toEqual([true, false])
  expect(isComplete(undefined)).toBe(false)
})
