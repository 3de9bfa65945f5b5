// Usage objects of all text styles to plain usage. Upstreams mix the spellings, so every style
// reads both, in the details objects and beside them. Contradictory parts are clamped.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from './style.ts'

/** Above every context window; a larger count is cut to it, so that sums stay exact. */
export const maxCount = 1_000_000_000

/** A valid count, else undefined. A zero is a zero. */
export function count(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined
  return Math.min(value, maxCount) + 0
}

/**
 * `prompt_tokens` always includes cached and written tokens. `input_tokens` includes them unless
 * `cacheBeside` says that this style counts them separately.
 */
export function plainUsage(raw: unknown, cacheBeside = false): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  const cacheReadTokens = readTokens(raw)
  const cacheWriteTokens = writtenTokens(raw)
  const beside = cacheBeside ? cacheReadTokens + cacheWriteTokens : 0
  const fresh = count(raw['input_tokens'])
  const input = said(fresh === undefined ? undefined : fresh + beside, count(raw['prompt_tokens']))
  const output = said(count(raw['output_tokens']), count(raw['completion_tokens']))
  if (input === undefined && output === undefined) return { usage: undefined, raw }
  const total = count(raw['total_tokens'])
  const inputTokens = input ?? rest(total, output)
  const outputTokens = output ?? rest(total, input)
  if (inputTokens === undefined) {
    return { usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }, raw }
  }
  const read = Math.min(cacheReadTokens, inputTokens)
  const written = Math.min(cacheWriteTokens, inputTokens - read)
  const usage = { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: written }
  return { usage, raw }
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
    const found = count(holder[name])
    if (found) return found
  }
  return 0
}

/** At the top, one level down, or split by lifetime. */
function writtenIn(holder: Json): number {
  const top = firstIn(holder, writtenNames)
  if (top > 0) return top
  const nested = objectIn(holder, 'cache_creation')
  if (nested === none) return 0
  const inner = firstIn(nested, writtenNames)
  if (inner > 0) return inner
  let sum = 0
  for (const name in nested) if (name.startsWith('ephemeral_')) sum += count(nested[name]) ?? 0
  return Math.min(sum, maxCount)
}
