// Usage objects of chat, responses and messages to plain usage: what is charged and what translated
// callers are shown. Upstreams mix the spellings, so every style reads both, in the details objects
// and beside them. Contradictory parts are clamped.
import {
  addCounts,
  noTokens,
  partsWithin,
  type ReportedUsage,
  type TokenCounts,
  type TokenParts,
  type ToolCalls,
} from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerUsage } from './answer.ts'
import type { Json } from './conversation.ts'

/** Above every context window; a larger count is cut to it, so that sums stay exact. */
export const maxCount = 1_000_000_000

/** A valid count, else undefined. A zero is a zero. */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined
  return Math.min(value, maxCount) + 0
}

/** A side that was not reported is none. */
export function answerUsage(reported: ReportedUsage | undefined): AnswerUsage | undefined {
  if (reported === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0, reasoningTokens = 0 } = reported
  const { cacheReadTokens, cacheWriteTokens, parts } = reported
  const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }
  return parts === undefined ? usage : { ...usage, parts }
}

/** The details of both sides, where there is something to tell. */
export const inputMedia = ({ parts }: AnswerUsage) =>
  media(parts?.inputAudioTokens, parts?.inputImageTokens)
export const outputMedia = ({ parts }: AnswerUsage) =>
  media(parts?.outputAudioTokens, parts?.outputImageTokens)

const media = (audio: number | undefined, image: number | undefined) => ({
  ...(audio !== undefined && { audio_tokens: audio }),
  ...(image !== undefined && { image_tokens: image }),
})

/**
 * `prompt_tokens` always includes cached and written tokens. `input_tokens` includes them unless
 * `cacheBeside` says that this style counts them separately.
 */
export function plainUsage(raw: unknown, cacheBeside = false): ReportedUsage | undefined {
  if (!isObject(raw)) return undefined
  return (cacheBeside ? passesOf(raw) : undefined) ?? countsOf(raw, cacheBeside)
}

/** Of one pass over the input. */
function countsOf(raw: Json, cacheBeside: boolean): ReportedUsage | undefined {
  const cacheReadTokens = readTokens(raw)
  const cacheWriteTokens = writtenTokens(raw)
  const beside = cacheBeside ? cacheReadTokens + cacheWriteTokens : 0
  const fresh = tokenCount(raw['input_tokens'])
  const input = said(
    fresh === undefined ? undefined : fresh + beside,
    tokenCount(raw['prompt_tokens']),
  )
  const output = said(tokenCount(raw['output_tokens']), tokenCount(raw['completion_tokens']))
  if (input === undefined && output === undefined) return undefined
  const total = tokenCount(raw['total_tokens'])
  const inputTokens = input ?? rest(total, output)
  const outputTokens = output ?? rest(total, input)
  const usage: ReportedUsage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
  const toolCalls = toolCallsIn(raw)
  if (toolCalls !== undefined) usage.toolCalls = toolCalls
  const reasoning = Math.min(reasoningTokens(raw), outputTokens ?? 0)
  if (reasoning > 0) usage.reasoningTokens = reasoning
  if (inputTokens === undefined) return usage
  usage.cacheReadTokens = Math.min(cacheReadTokens, inputTokens)
  usage.cacheWriteTokens = Math.min(cacheWriteTokens, inputTokens - usage.cacheReadTokens)
  const parts = partsIn(raw, usage)
  if (parts !== undefined) usage.parts = parts
  return usage
}

/** Undefined for most: looked for only where there is something that they could be a part of. */
function partsIn(raw: Json, usage: ReportedUsage): TokenParts | undefined {
  const kept = usage.cacheWriteTokens === 0 ? 0 : hourTokens(raw)
  const media = mediaIn(raw)
  if (kept === 0 && media === undefined) return undefined
  const found = kept === 0 ? media! : { ...media, cacheWrite1hTokens: kept }
  const { inputTokens = 0, outputTokens = 0 } = usage
  return partsWithin(found, { ...usage, inputTokens, outputTokens })
}

const inputDetails = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details']
const outputDetails = ['completion_tokens_details', 'output_tokens_details', 'output_token_details']

/** Tokens of sound and images, as the details of both sides count them. */
function mediaIn(raw: Json): TokenParts | undefined {
  let found: TokenParts | undefined
  for (const holder of inputDetails) {
    const details = raw[holder]
    if (!isObject(details)) continue
    found = withCount(found, 'inputAudioTokens', details['audio_tokens'])
    found = withCount(found, 'inputImageTokens', details['image_tokens'])
  }
  for (const holder of outputDetails) {
    const details = raw[holder]
    if (!isObject(details)) continue
    found = withCount(found, 'outputAudioTokens', details['audio_tokens'])
    found = withCount(found, 'outputImageTokens', details['image_tokens'])
  }
  return found
}

/** The first that is told counts. */
function withCount(
  parts: TokenParts | undefined,
  name: keyof TokenParts,
  value: unknown,
): TokenParts | undefined {
  const count = tokenCount(value)
  return count && parts?.[name] === undefined ? { ...parts, [name]: count } : parts
}

const maxPasses = 1_000

/**
 * `iterations: [{type: 'compaction', input_tokens, …}, {type: 'message', …}]`: every pass over the input
 * is billed, and the counts beside the list leave some of them out. Undefined: there is no list, or one
 * that cannot be read as a whole.
 */
function passesOf(raw: Json): ReportedUsage | undefined {
  const { iterations } = raw
  if (!Array.isArray(iterations) || iterations.length === 0 || iterations.length > maxPasses) {
    return undefined
  }
  // Those that do not tell lifetimes apart have what is told beside the list.
  let kept = iterations.some((each) => isObject(each) && each['cache_creation'] != null)
    ? 0
    : hourTokens(raw)
  let sum: TokenCounts = noTokens
  const named = new Map<string, TokenCounts>()
  for (const iteration of iterations) {
    if (!isObject(iteration)) return undefined
    const { model } = iteration
    const pass = countsOf(iteration, true)
    if (pass?.inputTokens === undefined || pass.outputTokens === undefined) return undefined
    const cacheWrite1hTokens = Math.min(kept, pass.cacheWriteTokens)
    kept -= cacheWrite1hTokens
    if (cacheWrite1hTokens > 0) pass.parts = { ...pass.parts, cacheWrite1hTokens }
    sum = addCounts(sum, pass as TokenCounts)
    if (sum.inputTokens > maxCount || sum.outputTokens > maxCount) return undefined
    if (typeof model !== 'string') continue
    named.set(model, addCounts(named.get(model) ?? noTokens, pass as TokenCounts))
  }
  const toolCalls = toolCallsIn(raw)
  const reasoning = Math.min(reasoningTokens(raw), sum.outputTokens)
  return {
    ...sum,
    ...(toolCalls !== undefined && { toolCalls }),
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
    ...(named.size > 0 && { named: [...named].map(([model, counts]) => ({ model, ...counts })) }),
  }
}

/** Later events of a stream override earlier ones; absent or null fields keep their value. */
export function mergeUsage(known: unknown, news: unknown): unknown {
  if (!isObject(news)) return known
  if (!isObject(known)) return news
  const merged: Record<string, unknown> = { ...known }
  for (const name in news) if (news[name] !== null) merged[name] = news[name]
  return merged
}

/** A zero may only be a default. */
const said = (a: number | undefined, b: number | undefined): number | undefined =>
  (a || b) ?? a ?? b

/** A total smaller than one side says nothing about the other. */
const rest = (total: number | undefined, known: number | undefined): number | undefined =>
  total === undefined || known === undefined || total <= known ? undefined : total - known

const none: Json = {}

function objectIn(holder: Json, name: string): Json {
  const value = holder[name]
  return isObject(value) ? value : none
}

/** One upstream reports caches in a list of its own: `x_details: [{prompt_tokens_details}]`. */
function listedDetails(raw: Json): Json {
  const list = raw['x_details']
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return isObject(first) ? objectIn(first, 'prompt_tokens_details') : none
}

const readNames = ['cached_tokens', 'cache_read_input_tokens', 'prompt_cache_hit_tokens'] as const
const writtenNames = ['cache_write_tokens', 'cache_creation_input_tokens'] as const

const reasoningNames = ['reasoning_tokens', 'thinking_tokens'] as const

const reasoningTokens = (raw: Json): number =>
  firstIn(objectIn(raw, 'completion_tokens_details'), reasoningNames) ||
  firstIn(objectIn(raw, 'output_tokens_details'), reasoningNames) ||
  firstIn(raw, reasoningNames)

const readTokens = (raw: Json): number =>
  firstIn(objectIn(raw, 'prompt_tokens_details'), readNames) ||
  firstIn(objectIn(raw, 'input_tokens_details'), readNames) ||
  firstIn(raw, readNames) ||
  firstIn(listedDetails(raw), readNames)

const writtenTokens = (raw: Json): number =>
  writtenIn(objectIn(raw, 'prompt_tokens_details')) ||
  writtenIn(objectIn(raw, 'input_tokens_details')) ||
  writtenIn(raw) ||
  writtenIn(listedDetails(raw))

function firstIn(holder: Json, names: readonly string[]): number {
  if (holder === none) return 0
  for (const name of names) {
    const found = tokenCount(holder[name])
    if (found) return found
  }
  return 0
}

const hourNames = ['ephemeral_1h_input_tokens', 'ephemeral_1h'] as const

/** Those that are kept for an hour, in the places where written tokens are. */
const hourTokens = (raw: Json): number =>
  hourIn(objectIn(raw, 'prompt_tokens_details')) ||
  hourIn(objectIn(raw, 'input_tokens_details')) ||
  hourIn(raw) ||
  hourIn(listedDetails(raw))

const hourIn = (holder: Json): number =>
  firstIn(objectIn(holder, 'cache_creation'), hourNames) || firstIn(holder, hourNames)

/** At the top, one level down, or split by lifetime. */
function writtenIn(holder: Json): number {
  const top = firstIn(holder, writtenNames)
  if (top > 0) return top
  const nested = objectIn(holder, 'cache_creation')
  if (nested === none) return 0
  const inner = firstIn(nested, writtenNames)
  if (inner > 0) return inner
  let sum = 0
  for (const name in nested) if (name.startsWith('ephemeral_')) sum += tokenCount(nested[name]) ?? 0
  return Math.min(sum, maxCount)
}

const maxCalls = 1_000_000

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0

/** `server_tool_use: { web_search_requests: 2 }`, and the names that others have for it. */
const holders = ['server_tool_use', 'server_side_tool_usage_details', 'tool_usage'] as const

/** Counts in a usage object. Undefined: none, as in most. */
function toolCallsIn(raw: Json): ToolCalls | undefined {
  let calls: Record<string, number> | undefined
  for (const holder of holders) {
    const counts = raw[holder]
    if (!isObject(counts)) continue
    for (const key in counts) {
      const count = counts[key]
      const name = key.replace(/_(?:requests|calls)$/, '')
      if (!isCount(count) || !/^[a-z][a-z0-9_]{0,63}$/.test(name)) continue
      calls ??= {}
      calls[name] = Math.min(maxCalls, count)
    }
    if (calls !== undefined) return calls
  }
  const searches = raw['num_search_queries'] ?? searchesIn(raw['plugins'])
  return isCount(searches) ? { web_search: Math.min(maxCalls, searches) } : undefined
}

/** `plugins: { search: { count: 1 } }` */
const searchesIn = (plugins: unknown): unknown =>
  isObject(plugins) && isObject(plugins['search']) ? plugins['search']['count'] : undefined
