// The maximum usage of a text call as sent upstream: sizes its hold, and shows which reported usage
// is implausible.
import { type Model, modelDefaults } from '../../contract/catalog.ts'
import type { TextCall } from '../../contract/requests.ts'
import { boundUses, passesOf } from './server-tools.ts'

export interface TextBounds {
  /** Of the visible input. An upstream that counts differently may report more. */
  readonly inputTokens: number
  /** The model's own maximum, for each of the passes that the request asks for. */
  readonly windowTokens: number
  readonly outputTokens: number
  /** The model's own maximum, of all answers together. */
  readonly modelOutputTokens: number
  /** The caller's own limit, where the upstream takes none that is so low. */
  readonly raisedFrom?: number
  /** Those without the rules of a channel, where these are with them. */
  readonly ruledFrom?: TextBounds
  /** By tool that the upstream runs: the caller's bound of its calls. */
  readonly toolUses?: Readonly<Record<string, number>>
}

export function boundsOf(model: Model, call: TextCall): TextBounds {
  const { maxTextTokens, images, isOpen, inputs } = call.inputBound
  const windowTokens = (model.contextWindow ?? modelDefaults.contextWindow) * inputs
  const perImage = model.maxTokensPerImage ?? modelDefaults.maxTokensPerImage
  const visible = Math.min(windowTokens, maxTextTokens + images * perImage)
  const maxOutput = (model.maxOutputTokens ?? modelDefaults.maxOutputTokens) * call.choices
  const bound = call.reasons ? maxOutput : (call.maxOutputTokens ?? maxOutput)
  const passes = call.compacts ? 2 : 1
  return {
    inputTokens: (isOpen || call.serverTools !== undefined ? windowTokens : visible) * passes,
    windowTokens: windowTokens * (passes + passesOf(call.serverTools)),
    outputTokens: Math.min(maxOutput, bound) + (call.compacts ? maxOutput : 0),
    modelOutputTokens: maxOutput * passes,
    ...(call.serverTools !== undefined && { toolUses: boundUses(call.serverTools) }),
  }
}
