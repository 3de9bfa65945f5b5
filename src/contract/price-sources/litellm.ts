// LiteLLM's model_prices_and_context_window.json: one map of models, prices in US dollars per token, per
// image or per query.
import { compare, type Decimal, isSame, million, times } from './decimal.ts'
import {
  boundsOf,
  decimalIn,
  type Json,
  objectIn,
  ratesOf,
  type SourceList,
  type SourcePrice,
  type SourceTerms,
} from './source.ts'

/** Not models. */
const notes = new Set(['sample_spec', 'fallback_generalizations'])

const kinds: Readonly<Record<string, SourcePrice['kind']>> = {
  chat: 'text',
  completion: 'text',
  responses: 'text',
  embedding: 'embedding',
  image_generation: 'image',
}

export function readLitellm(file: Json): SourceList {
  const list: SourceList = { prices: [], skipped: [] }
  for (const [key, entry] of Object.entries(file)) {
    if (notes.has(key)) continue
    const details = objectIn(entry)
    const provider =
      typeof details['litellm_provider'] === 'string' ? details['litellm_provider'] : ''
    const id = provider === '' || key.startsWith(`${provider}/`) ? key : `${provider}/${key}`
    const read = readModel(details, id, key, provider)
    if (typeof read === 'string') list.skipped.push({ id, reason: read })
    else list.prices.push(read)
  }
  return list
}

function readModel(details: Json, id: string, key: string, provider: string): SourcePrice | string {
  const { mode = 'chat' } = details
  const kind = typeof mode === 'string' ? kinds[mode] : undefined
  if (kind === undefined) return `models of the mode ${String(mode)} have no unit here`
  const lost: string[] = []
  const terms = kind === 'image' ? imageTerms(details) : tokenTerms(details, lost)
  if (typeof terms === 'string') return terms
  const context = details['max_input_tokens'] ?? details['max_tokens']
  return {
    id,
    model: key.startsWith(`${provider}/`) ? key.slice(provider.length + 1) : key,
    kind,
    terms,
    ...(kind !== 'image' && boundsOf(context, details['max_output_tokens'])),
    lost,
    // Keys without a path are those of the makers.
    rank: key.split('/').length - 1,
  }
}

function imageTerms(details: Json): SourceTerms | string {
  const perImage = decimalIn(details['output_cost_per_image'] ?? details['input_cost_per_image'])
  return perImage === undefined
    ? 'its images are priced by pixels or tokens, which have no unit here'
    : { unit: 'image', perImage }
}

const perMillion = (value: unknown): Decimal | undefined => {
  const perToken = decimalIn(value)
  return perToken === undefined ? undefined : times(perToken, million)
}

function tokenTerms(details: Json, lost: string[]): SourceTerms | string {
  const tiers = Array.isArray(details['tiered_pricing'])
    ? rangesOf(details['tiered_pricing'])
    : thresholdsOf(details)
  if (tiers === undefined) return 'it has no price by tokens'
  const reasoning = perMillion(details['output_cost_per_reasoning_token'])
  if (reasoning !== undefined && !isSame(reasoning, tiers[0]!.rates.output)) {
    lost.push('another rate for reasoning tokens, which are charged as output')
  }
  if (Object.keys(details).some((name) => /cost_per_(?:audio|video|character)/.test(name))) {
    lost.push('a rate for audio, video or characters, which are charged as tokens')
  }
  if (details['cache_creation_input_token_cost_above_1hr'] !== undefined) {
    lost.push('another rate for what is cached for an hour, which is charged as other writes')
  }
  const webSearch = dearest(Object.values(objectIn(details['search_context_cost_per_query'])))
  return { unit: 'token', tiers, ...(webSearch !== undefined && { webSearch }) }
}

function dearest(values: readonly unknown[]): Decimal | undefined {
  const amounts = values.flatMap((value) => decimalIn(value) ?? [])
  return amounts.toSorted(compare).at(-1)
}

type Tiers = Extract<SourceTerms, { unit: 'token' }>['tiers']

const rateNames = [
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
] as const

/** Of the names with a suffix; what has none is as it is without. */
function ratesAt(details: Json, suffix: string) {
  const [input, output, read, write] = rateNames.map((name) =>
    perMillion(details[`${name}${suffix}`] ?? details[name]),
  )
  if (input === undefined) return undefined
  const isEmbedding = details['mode'] === 'embedding'
  const made = output ?? (isEmbedding ? { digits: 0n, scale: 0 } : undefined)
  return made === undefined ? undefined : ratesOf(input, made, read, write)
}

/** `…_above_200k_tokens`: what inputs above that size cost. */
function thresholdsOf(details: Json): Tiers | undefined {
  const found = Object.keys(details).flatMap((name) => {
    const above = /^(?:input|output)_cost_per_token_above_(\d+)k_tokens$/.exec(name)?.[1]
    return above === undefined ? [] : [Number(above)]
  })
  const thresholds = [0, ...new Set(found.toSorted((a, b) => a - b))]
  const tiers: Tiers = []
  for (const [at, above] of thresholds.entries()) {
    const rates = ratesAt(details, above === 0 ? '' : `_above_${above}k_tokens`)
    if (rates === undefined) return undefined
    const next = thresholds[at + 1]
    tiers.push(next === undefined ? { rates } : { upTo: next * 1_000, rates })
  }
  return tiers
}

/** `tiered_pricing`: each with its `range` of input tokens. */
function rangesOf(ranges: readonly unknown[]): Tiers | undefined {
  const tiers: Tiers = []
  for (const [at, each] of ranges.entries()) {
    const range = objectIn(each)
    const rates = ratesAt(range, '')
    const upTo = Number(decimalTextOf(range['range']))
    if (rates === undefined) return undefined
    const isLast = at === ranges.length - 1
    if (!isLast && !(Number.isSafeInteger(upTo) && upTo > 0)) return undefined
    tiers.push(isLast ? { rates } : { upTo, rates })
  }
  return tiers.length === 0 ? undefined : tiers
}

const decimalTextOf = (range: unknown): unknown => (Array.isArray(range) ? range[1] : undefined)
