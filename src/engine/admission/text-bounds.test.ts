// The maximum usage of a call.
import { describe, expect, test } from 'bun:test'
import { builtinModels } from '../../catalog/builtin.ts'
import type { Model } from '../../contract/catalog.ts'
import type { InputBound, TextCall } from '../../contract/requests.ts'
import { boundsOf } from './text-bounds.ts'

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
    ['by the model where it reasons', call({}, { maxOutputTokens: 7, reasons: true }), [10, 100]],
    ['twice where it compacts', call({}, { maxOutputTokens: 7, compacts: true }), [20, 107]],
    [
      'by the window where results of tools come in',
      call({}, { serverTools: [{ name: 'web_search', refusal: {} as never }] }),
      [1_000, 100],
    ],
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
      modelOutputTokens: 32_768,
    })
  })
})
