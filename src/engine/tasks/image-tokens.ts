// Images that are priced by tokens: the most that a request can use, and what a finished one is charged for.
// An upstream's count holds, within what the model can make; without one the gateway's own does.
import { type Model, modelDefaults } from '../../contract/catalog.ts'
import type { ImageRequest, ImageTokenBound, TaskUsage } from '../../contract/task.ts'
import { noTokens, partsWithin, type TokenCounts } from '../../contract/usage.ts'

/** A square of so many pixels is a token of an image in the best quality. */
const pixelsPerToken = 256
/** A request without a size may get the largest of the usual ones. */
const usual = { width: 1_024, height: 1_536 }
const bytesPerToken = 4

export function imageTokenBound(model: Model, request: ImageRequest): ImageTokenBound {
  const { prompt, negativePrompt = '', media, count } = request
  const { contextWindow, maxOutputTokens: max, maxTokensPerImage } = { ...modelDefaults, ...model }
  const text = Buffer.byteLength(prompt) + Buffer.byteLength(negativePrompt)
  const drawn = drawnTokens(request)
  return {
    inputTokens: Math.min(contextWindow, text + media.length * maxTokensPerImage),
    outputTokens: count * (model.maxOutputTokens ?? Math.min(max, drawn + Math.ceil(drawn / 10))),
    maxInputTokens: contextWindow,
    maxOutputTokens: count * max,
  }
}

const drawnTokens = ({ size: { width, height } = usual }: ImageRequest): number =>
  Math.ceil((width * height) / pixelsPerToken)

interface ChargedTokens {
  tokens: TokenCounts
  estimated: boolean
  /** The reported tokens, where they are more than the model can make. */
  implausible?: number
}

/** `images`: how many were delivered. */
export function chargedImageTokens(
  request: ImageRequest,
  { tokens, images = 0 }: TaskUsage,
): ChargedTokens {
  if (tokens === undefined) return { tokens: estimate(request, images), estimated: true }
  const { maxInputTokens, maxOutputTokens } = request.tokenBound ?? unbounded
  if (tokens.inputTokens <= maxInputTokens && tokens.outputTokens <= maxOutputTokens) {
    return { tokens, estimated: false }
  }
  const implausible = tokens.inputTokens + tokens.outputTokens
  return { tokens: within(tokens, maxInputTokens, maxOutputTokens), estimated: false, implausible }
}

const unbounded = {
  maxInputTokens: Number.POSITIVE_INFINITY,
  maxOutputTokens: Number.POSITIVE_INFINITY,
}

function estimate(request: ImageRequest, images: number): TokenCounts {
  const { prompt, negativePrompt = '' } = request
  const bytes = Buffer.byteLength(prompt) + Buffer.byteLength(negativePrompt)
  const outputTokens = images * drawnTokens(request)
  return {
    inputTokens: Math.ceil(bytes / bytesPerToken),
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    ...(outputTokens > 0 && { parts: { outputImageTokens: outputTokens } }),
  }
}

/** The counts with smaller sides: their parts shrink with them. */
function within(tokens: TokenCounts, maxInput: number, maxOutput: number): TokenCounts {
  const inputTokens = Math.min(tokens.inputTokens, maxInput)
  const cacheReadTokens = Math.min(tokens.cacheReadTokens, inputTokens)
  const cut = {
    inputTokens,
    outputTokens: Math.min(tokens.outputTokens, maxOutput),
    cacheReadTokens,
    cacheWriteTokens: Math.min(tokens.cacheWriteTokens, inputTokens - cacheReadTokens),
  }
  const parts = tokens.parts && partsWithin(tokens.parts, cut)
  return parts === undefined ? cut : { ...cut, parts }
}

/**
 * The usage of those of the made images that were delivered, which has all of the input, and that of the others:
 * together they are the whole.
 */
export function sharedTokens(
  tokens: TokenCounts,
  delivered: number,
  made: number,
): { delivered: TokenCounts; others: TokenCounts } {
  if (delivered === 0) return { delivered: noTokens, others: tokens }
  const outputTokens = Math.ceil((tokens.outputTokens * delivered) / made)
  const mine = within(tokens, tokens.inputTokens, outputTokens)
  const left = tokens.outputTokens - outputTokens
  const drawn = (tokens.parts?.outputImageTokens ?? 0) - (mine.parts?.outputImageTokens ?? 0)
  const others = { inputTokens: 0, outputTokens: left, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return {
    delivered: mine,
    others: drawn > 0 ? { ...others, parts: { outputImageTokens: drawn } } : others,
  }
}
