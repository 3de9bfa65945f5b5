// The maximum usage of a text call as sent upstream: sizes its hold, and shows which reported usage
// is implausible.
import { type Model, modelDefaults } from '../../contract/catalog.ts'
import type { TextCall } from '../../contract/requests.ts'
import { boundUses } from './server-tools.ts'

export interface TextBounds {
  /** Of the visible input. An upstream that counts differently may report more. */
  readonly inputTokens: number
  /** The model's own maximum. */
  readonly windowTokens: number
  readonly outputTokens: number
  /** The model's own maximum, of all answers together. */
  readonly modelOutputTokens: number
  /** By tool that the upstream runs: the caller's bound of its calls. */
  readonly toolUses?: Readonly<Record<string, number>>
}

export function boundsOf(model: Model, call: TextCall): TextBounds {
  const { maxTextTokens, images, isOpen, inputs } = call.inputBound
  const windowTokens = (model.contextWindow ?? modelDefaults.contextWindow) * inputs
  const perImage = model.maxTokensPerImage ?? modelDefaults.maxTokensPerImage
  const visible = Math.min(windowTokens, maxTextTokens + images * perImage)
  const maxOutput = (model.maxOutputTokens ?? modelDefaults.maxOutputTokens) * call.choices
  return {
    inputTokens: isOpen ? windowTokens : visible,
    windowTokens,
    outputTokens: Math.min(maxOutput, call.maxOutputTokens ?? maxOutput),
    modelOutputTokens: maxOutput,
    ...(call.serverTools !== undefined && { toolUses: boundUses(call.serverTools) }),
  }
}
