// Usage of the generate style as plain counts. Thoughts are counted beside the candidates, cached
// tokens inside the prompt, and zeros are left out.
import { partsWithin, type TokenParts } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { tokenCount } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { eitherOf } from './wire.ts'

interface UsageCounts {
  /** All input, cached included; undefined when it is not reported. */
  inputTokens: number | undefined
  /** All output, thoughts included; undefined when it is not reported. */
  outputTokens: number | undefined
  cacheReadTokens: number
  /** Those of the output that are thoughts. */
  reasoningTokens: number
  parts?: TokenParts
}

const names = {
  prompt: ['promptTokenCount', 'prompt_token_count'],
  toolUse: ['toolUsePromptTokenCount', 'tool_use_prompt_token_count'],
  cached: ['cachedContentTokenCount', 'cached_content_token_count'],
  candidates: ['candidatesTokenCount', 'candidates_token_count'],
  thoughts: ['thoughtsTokenCount', 'thoughts_token_count'],
  total: ['totalTokenCount', 'total_token_count'],
} as const

/** Undefined when it has no count of either side. */
export function readCounts(raw: unknown): UsageCounts | undefined {
  if (!isObject(raw)) return undefined
  const of = (name: keyof typeof names) => {
    const [camel, snake] = names[name]
    return tokenCount(eitherOf(raw, camel, snake))
  }
  const prompt = of('prompt')
  const total = of('total')
  const candidates = of('candidates')
  const thoughts = of('thoughts')
  const toolUse = of('toolUse')
  const output = outputOf({ prompt, toolUse, candidates, thoughts, total })
  const input = prompt === undefined ? rest(total, output) : prompt + (toolUse ?? 0)
  if (input === undefined && output === undefined) return undefined
  const cached = of('cached') ?? 0
  const cacheReadTokens = input === undefined ? cached : Math.min(cached, input)
  const reasoningTokens = Math.min(thoughts ?? 0, output ?? 0)
  const counts = { inputTokens: input, outputTokens: output, cacheReadTokens, reasoningTokens }
  const found = mediaIn(raw)
  if (found === undefined) return counts
  const whole = { inputTokens: input ?? 0, outputTokens: output ?? 0, cacheReadTokens }
  const parts = partsWithin(found, { ...whole, cacheWriteTokens: 0 })
  return parts === undefined ? counts : { ...counts, parts }
}

const details = {
  prompt: ['promptTokensDetails', 'prompt_tokens_details'],
  toolUse: ['toolUsePromptTokensDetails', 'tool_use_prompt_tokens_details'],
  cached: ['cacheTokensDetails', 'cache_tokens_details'],
  candidates: ['candidatesTokensDetails', 'candidates_tokens_details'],
} as const

/** Tokens of sound and images; those that were read from a cache are not among them. */
function mediaIn(raw: Json): TokenParts | undefined {
  const of = (name: keyof typeof details, modality: string): number => {
    const [camel, snake] = details[name]
    return tokensOf(eitherOf(raw, camel, snake), modality)
  }
  const input = (modality: string) =>
    Math.max(0, of('prompt', modality) + of('toolUse', modality) - of('cached', modality))
  const parts = {
    inputAudioTokens: input('AUDIO'),
    inputImageTokens: input('IMAGE'),
    outputAudioTokens: of('candidates', 'AUDIO'),
    outputImageTokens: of('candidates', 'IMAGE'),
  }
  return Object.values(parts).some((tokens) => tokens > 0) ? parts : undefined
}

/** `[{modality: 'AUDIO', tokenCount: 12}]` */
function tokensOf(list: unknown, modality: string): number {
  if (!Array.isArray(list)) return 0
  let sum = 0
  for (const each of list) {
    if (!isObject(each) || each['modality'] !== modality) continue
    sum += tokenCount(eitherOf(each, 'tokenCount', 'token_count')) ?? 0
  }
  return sum
}

const modalities = [
  ['TEXT', undefined, undefined],
  ['AUDIO', 'inputAudioTokens', 'outputAudioTokens'],
  ['IMAGE', 'inputImageTokens', 'outputImageTokens'],
] as const

/** The same lists for a caller, where there is something to tell apart. */
export function detailsFor(
  parts: TokenParts | undefined,
  inputTokens: number,
  outputTokens: number,
): Json {
  if (parts === undefined) return {}
  const listOf = (side: 1 | 2, all: number) => {
    const media = modalities.flatMap((row) => {
      const name = row[side]
      const tokenCount = name === undefined ? undefined : parts[name]
      return tokenCount === undefined ? [] : [{ modality: row[0] as string, tokenCount }]
    })
    const text = media.reduce((left, each) => left - each.tokenCount, all)
    return media.length === 0 ? undefined : [{ modality: 'TEXT', tokenCount: text }, ...media]
  }
  const [prompt, candidates] = [listOf(1, inputTokens), listOf(2, outputTokens)]
  return {
    ...(prompt !== undefined && { promptTokensDetails: prompt }),
    ...(candidates !== undefined && { candidatesTokensDetails: candidates }),
  }
}

interface Counts {
  prompt: number | undefined
  toolUse: number | undefined
  candidates: number | undefined
  thoughts: number | undefined
  total: number | undefined
}

/**
 * The total decides where the parts do not add up to it: some upstreams count the thoughts inside
 * the candidates, some count them in the total only.
 */
function outputOf({ prompt, toolUse, candidates, thoughts, total }: Counts): number | undefined {
  const named =
    candidates === undefined && thoughts === undefined
      ? undefined
      : (candidates ?? 0) + (thoughts ?? 0)
  if (prompt === undefined || total === undefined) return named
  const left = total - prompt - (toolUse ?? 0)
  if (named === undefined) return left >= 0 ? left : undefined
  return left === candidates || left > named ? left : named
}

/** A total that is smaller than one side says nothing of the other. */
const rest = (total: number | undefined, known: number | undefined): number | undefined =>
  total === undefined || known === undefined || total <= known ? undefined : total - known
