// The fields of LiteLLM's list that are rates of tokens: which rate each is, above which size of the input, and of
// which service tier.
//
//   cache_creation_input_token_cost_above_1hr_above_200k_tokens_priority
import type { RateName } from '../price.ts'
import { compare, type Decimal, million, times } from './decimal.ts'
import {
  decimalIn,
  type Json,
  objectIn,
  type SomeRates,
  type SourceRates,
  type SourceTiers,
} from './source.ts'

const rateKeys: Readonly<Record<string, RateName>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_image_token: 'input_image',
  output_cost_per_image_token: 'output_image',
}

interface Cell {
  rate: RateName
  /** In thousands of tokens; 0: any size. */
  above: number
  /** Empty: the plain one. */
  tier: string
}

/** By `<thousands> <tier>`. */
export type Cells = ReadonlyMap<string, SomeRates>
export type Names = ReadonlyMap<string, Cell>

export const perMillion = (value: unknown): Decimal | undefined => {
  const perToken = decimalIn(value)
  return perToken === undefined ? undefined : times(perToken, million)
}

export const dearest = (amounts: readonly Decimal[]): Decimal | undefined =>
  amounts.toSorted(compare).at(-1)

export function cellsOf(details: Json): { cells: Cells; names: Names } {
  const cells = new Map<string, SomeRates>()
  const names = new Map<string, Cell>()
  for (const [name, value] of Object.entries(details)) {
    const cell = cellNamed(name)
    const rate = perMillion(value)
    if (cell === undefined || rate === undefined) continue
    const key = `${cell.above} ${cell.tier}`
    names.set(name, cell)
    cells.set(key, { ...cells.get(key), [cell.rate]: rate })
  }
  return { cells, names }
}

function cellNamed(name: string): Cell | undefined {
  const parts = /^(.+?)(?:_above_(\d{1,5})k_tokens)?(?:_(flex|priority|batches))?$/.exec(name)
  const [, base = '', above = '0', tier = ''] = parts ?? []
  const rate = Object.hasOwn(rateKeys, base) ? rateKeys[base] : undefined
  return rate === undefined ? undefined : { rate, above: Number(above), tier }
}

/** `…_above_200k_tokens`: what inputs above that size cost; what has no such rate is as it is without. */
export function tiersOf(cells: Cells, details: Json): SourceTiers | undefined {
  const plain = [...cells.keys()].filter((key) => key.endsWith(' '))
  const sizes = plain.map((key) => Number.parseInt(key, 10)).toSorted((a, b) => a - b)
  const base = wholeRates(cells.get('0 ') ?? {}, details)
  if (base === undefined) return undefined
  let rates = base
  return sizes.map((above, at) => {
    rates = { ...rates, ...cells.get(`${above} `) }
    const next = sizes[at + 1]
    return next === undefined ? { rates } : { upTo: next * 1_000, rates }
  })
}

/** These have no output by tokens. */
const withoutOutput = new Set<unknown>(['embedding', 'rerank', 'moderation'])

/** Embeddings have no output, and that of models of images and speech is of images and sound. */
function wholeRates(rates: SomeRates, details: Json): SourceRates | undefined {
  const { mode } = details
  const { input, output_image, output_audio } = rates
  const none = withoutOutput.has(mode) ? { digits: 0n, scale: 0 } : undefined
  const isImage = String(mode).startsWith('image')
  const sound = mode === 'audio_speech' ? output_audio : undefined
  const output = rates.output ?? none ?? (isImage ? output_image : sound)
  if (input === undefined || output === undefined) return undefined
  const hit = rates.cache_read ?? perMillion(details['input_cost_per_token_cache_hit'])
  return { ...rates, input, output, ...(hit !== undefined && { cache_read: hit }) }
}

/** `tiered_pricing`: each with its `range` of input tokens. */
export function rangesOf(ranges: readonly unknown[]): SourceTiers | undefined {
  const tiers: SourceTiers = []
  for (const [at, each] of ranges.entries()) {
    const range = objectIn(each)
    const rates = wholeRates(cellsOf(range).cells.get('0 ') ?? {}, range)
    const bounds = range['range']
    const upTo = Number(Array.isArray(bounds) ? bounds[1] : undefined)
    if (rates === undefined) return undefined
    const isLast = at === ranges.length - 1
    if (!isLast && !(Number.isSafeInteger(upTo) && upTo > 0)) return undefined
    tiers.push(isLast ? { rates } : { upTo, rates })
  }
  return tiers.length === 0 ? undefined : tiers
}
