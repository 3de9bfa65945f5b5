// models.dev's api.json: providers, each with models, prices in US dollars per million tokens.
import { type Decimal, isSame, isZero } from './decimal.ts'
import {
  boundsOf,
  decimalIn,
  type Json,
  objectIn,
  ratesOf,
  type SourceList,
  type SourcePrice,
  type SourceRates,
  wholeIn,
} from './source.ts'

/** Those that make the models; others resell them, some as part of a subscription. */
const makers = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'xai',
  'cohere',
  'perplexity',
  'moonshotai',
  'zai',
  'zhipuai',
  'minimax',
  'alibaba',
  'meta',
  'llama',
]

export function readModelsDev(file: Json): SourceList {
  const list: SourceList = { prices: [], skipped: [] }
  for (const [provider, entry] of Object.entries(file)) {
    const at = makers.indexOf(provider)
    for (const [model, details] of Object.entries(objectIn(objectIn(entry)['models']))) {
      const id = `${provider}/${model}`
      const read = readModel(objectIn(details), id, model, at === -1 ? makers.length : at)
      if (typeof read === 'string') list.skipped.push({ id, reason: read })
      else list.prices.push(read)
    }
  }
  return list
}

function readModel(details: Json, id: string, model: string, rank: number): SourcePrice | string {
  const cost = objectIn(details['cost'])
  const [input, output] = [decimalIn(cost['input']), decimalIn(cost['output'])]
  if (input === undefined || output === undefined) return 'it has no price'
  const makes = objectIn(details['modalities'])['output']
  if (Array.isArray(makes) && !makes.includes('text')) {
    return `it makes ${makes.join(', ')}, priced by tokens`
  }
  const { context, input: maxInput, output: maxOutput } = objectIn(details['limit'])
  const lost: string[] = []
  const tiers = tiersOf(cost, rates(cost, input, output), lost)
  const reasoning = decimalIn(cost['reasoning'])
  if (reasoning !== undefined && !isSame(reasoning, output)) {
    lost.push('another rate for reasoning tokens, which are charged as output')
  }
  if (cost['input_audio'] !== undefined || cost['output_audio'] !== undefined) {
    lost.push('a rate for audio tokens, which are charged as text')
  }
  const isFree = tiers.every(({ rates: each }) => isZero(each.input) && isZero(each.output))
  return {
    id,
    model,
    kind: /embed/i.test(model) ? 'embedding' : 'text',
    terms: { unit: 'token', tiers },
    ...boundsOf(maxInput ?? context, maxOutput),
    lost,
    rank: isFree ? rank + 1_000 : rank,
  }
}

const rates = (cost: Json, input: Decimal, output: Decimal): SourceRates =>
  ratesOf(input, output, decimalIn(cost['cache_read']), decimalIn(cost['cache_write']))

interface Step {
  above: number
  rates: SourceRates
}

/** `tiers` hold for inputs above their size; `context_over_200k` is the older word for one of them. */
function tiersOf(cost: Json, base: SourceRates, lost: string[]) {
  const steps = Array.isArray(cost['tiers'])
    ? cost['tiers'].flatMap((tier) => stepOf(objectIn(tier), lost))
    : over200k(cost)
  const sorted = steps.toSorted((a, b) => a.above - b.above)
  const all: Step[] = [{ above: 0, rates: base }, ...sorted]
  return all.map(({ rates: each }, at) => {
    const next = all[at + 1]
    return next === undefined ? { rates: each } : { upTo: next.above, rates: each }
  })
}

function stepOf(tier: Json, lost: string[]): Step[] {
  const { type, size } = objectIn(tier['tier'])
  const [above, input, output] = [
    wholeIn(size),
    decimalIn(tier['input']),
    decimalIn(tier['output']),
  ]
  if (type === 'context' && above !== undefined && input !== undefined && output !== undefined) {
    return [{ above, rates: rates(tier, input, output) }]
  }
  lost.push('a tier that does not depend on the size of the input')
  return []
}

function over200k(cost: Json): Step[] {
  const over = objectIn(cost['context_over_200k'])
  const [input, output] = [decimalIn(over['input']), decimalIn(over['output'])]
  if (input === undefined || output === undefined) return []
  return [{ above: 200_000, rates: rates(over, input, output) }]
}
