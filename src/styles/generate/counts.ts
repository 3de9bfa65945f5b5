// Usage of the generate style as plain counts. Thoughts are counted beside the candidates, cached
// tokens inside the prompt, and zeros are left out.
import { isObject } from '../../lib/json/parse.ts'
import { tokenCount } from '../common/answer-usage.ts'
import { eitherOf } from './wire.ts'

interface UsageCounts {
  /** All input, cached included; undefined when it is not reported. */
  inputTokens: number | undefined
  /** All output, thoughts included; undefined when it is not reported. */
  outputTokens: number | undefined
  cacheReadTokens: number
  /** Those of the output that are thoughts. */
  reasoningTokens: number
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
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: input === undefined ? cached : Math.min(cached, input),
    reasoningTokens: Math.min(thoughts ?? 0, output ?? 0),
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
