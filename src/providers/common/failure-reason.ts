// Failures that tools of callers act on, recognised by the words that upstreams use for them. Servers
// of one style use the words of others, so there is one table for all.
import type { FailureReason } from '../../contract/errors.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'

/** Longer texts are not searched: the words stand at the beginning. */
const maxWords = 4_000

const inputTooLong =
  /context_length_exceeded|exceed_context_size_error|context_?window_?exceeded|maximum context length|(?:prompt|input) is too long|(?:exceed|overflow)s? (?:the )?(?:available |model's |maximum )?context (?:size|window|length|limit)|greater than the context length|input token count .{0,80}exceeds|range of input length should be/i

/** How upstreams give the sizes; the first one that fits counts. */
const sizes: readonly RegExp[] = [
  /prompt is too long: (?<input>\d+) tokens > (?<max>\d+) maximum/i,
  /exceed context limit: (?<input>\d+) \+ (?<output>\d+) > (?<max>\d+)/i,
  /too large: (?<output>\d+)\. This model's maximum context length is (?<max>\d+) tokens and your request has (?<input>\d+)/i,
  /maximum context length is (?<max>\d+) tokens\D{1,80}\d+ tokens \((?<input>\d+) in the \w+[,;]\D{1,40}?(?<output>\d+) in the completion/i,
  /maximum context length is (?<max>\d+) tokens\D{1,80}(?<output>\d+) output tokens\D{1,80}(?<input>\d+) input tokens/i,
  /maximum context length is (?<max>\d+) tokens\D{1,80}(?<input>\d+) (?:input )?tokens/i,
  /input token count \(?(?<input>\d+)\)? exceeds the maximum number of tokens allowed \(?(?<max>\d+)/i,
  /\((?<input>\d+) tokens\) exceeds the available context size \((?<max>\d+) tokens\)/i,
  /input length should be \[\d+, ?(?<max>\d+)\]/i,
  /maximum context length is (?<max>\d+)/i,
]

const outputLimits: readonly RegExp[] = [
  /max(?:_completion)?_tokens is too large: (?<output>\d+)\. This model supports at most (?<max>\d+)/i,
  /max_tokens: (?<output>\d+) > (?<max>\d+), which is the maximum/i,
  /range of max_(?:completion_)?tokens (?:is|should be) \[\d+, ?(?<max>\d+)\]/i,
]
/** The first number that is too large. */
const outputLimitBelow =
  /max_?output_?tokens(?: value of (?<output>\d+))?.{0,120}supported range is from \d+ \(inclusive\) to (?<max>\d+) \(exclusive\)/i

const invalidImage =
  /does not represent a valid image|could not process image|unable to process input image|provided image is not valid|invalid_image|invalid_base64_image|image_parse_error|failed to (?:load|decode) (?:the )?image/i
const invalidSeal =
  /invalid [`'"]?(?:signature|data)[`'"]? in [`'"]?(?:redacted_)?thinking|thinking\.signature: field required|corrupted thought signature|thought[_ ]signature is (?:not valid|invalid|missing)|missing a [`'"]?thought_signature|invalid_encrypted_content|encrypted content.{0,80}could not be (?:verified|decrypted)/i
const overloaded =
  /[Oo]verloaded|OVERLOADED|slow_down|\bUNAVAILABLE\b|\b(?:at|over|exceeds?) capacity\b|capacity_exceeded/

/** What of a refused request tools act on. `error`: the upstream's error object. */
export function requestReason(text: string, error: unknown): FailureReason | undefined {
  const words = text.slice(0, maxWords)
  const limit = outputLimitOf(words)
  if (limit !== undefined) return limit
  const sized = sizesOf(words) ?? sizesIn(error)
  if (sized?.outputTokens !== undefined || inputTooLong.test(words)) return tooLong(sized)
  if (invalidSeal.test(words)) return { kind: 'invalid_seal' }
  return invalidImage.test(words) ? { kind: 'invalid_image' } : undefined
}

/** The upstream as a whole has too much to do. */
export const isOverload = (status: number, words: string): boolean =>
  status === 503 || status === 529 || overloaded.test(words.slice(0, maxWords))

/** Of a failure with this reason; undefined: the status decides. */
export const codeOfReason = (
  reason: FailureReason | undefined,
): UpstreamError['code'] | undefined => {
  if (reason === undefined || reason.kind === 'overloaded') return undefined
  return reason.kind === 'input_too_long' || reason.kind === 'context_too_small'
    ? 'context_length_exceeded'
    : 'upstream_invalid_request'
}

interface Sizes {
  inputTokens?: number
  outputTokens?: number
  maxTokens?: number
}

function tooLong({ inputTokens, outputTokens, maxTokens }: Sizes = {}): FailureReason {
  const isKnown = inputTokens !== undefined && outputTokens !== undefined && maxTokens !== undefined
  if (isKnown && inputTokens < maxTokens) {
    return { kind: 'context_too_small', inputTokens, outputTokens, maxTokens }
  }
  return {
    kind: 'input_too_long',
    ...(inputTokens !== undefined && { inputTokens }),
    ...(maxTokens !== undefined && { maxTokens }),
  }
}

function sizesOf(words: string): Sizes | undefined {
  for (const pattern of sizes) {
    const found = pattern.exec(words)?.groups
    if (found !== undefined) return numbersOf(found)
  }
  return undefined
}

/** `{n_prompt_tokens: 9000, n_ctx: 8192}` */
function sizesIn(error: unknown): Sizes | undefined {
  if (!isObject(error)) return undefined
  const { n_prompt_tokens: inputTokens, n_ctx: maxTokens } = error
  return typeof inputTokens === 'number' && typeof maxTokens === 'number'
    ? { inputTokens, maxTokens }
    : undefined
}

const numbersOf = ({ input, output, max }: Record<string, string>): Sizes => ({
  ...(input !== undefined && { inputTokens: Number(input) }),
  ...(output !== undefined && { outputTokens: Number(output) }),
  ...(max !== undefined && { maxTokens: Number(max) }),
})

function outputLimitOf(words: string): FailureReason | undefined {
  for (const pattern of outputLimits) {
    const found = pattern.exec(words)?.groups
    if (found !== undefined) return limitOf(numbersOf(found), 0)
  }
  const below = outputLimitBelow.exec(words)?.groups
  return below === undefined ? undefined : limitOf(numbersOf(below), 1)
}

const limitOf = ({ outputTokens, maxTokens = 0 }: Sizes, above: number): FailureReason => ({
  kind: 'output_limit',
  maxTokens: maxTokens - above,
  ...(outputTokens !== undefined && { outputTokens }),
})
