// models.dev's api.json: providers, each with models, prices in US dollars per million tokens.
import { noTiers, rateNames } from '../price.ts'
import { isSame, isZero } from './decimal.ts'
import { serviceTierOf } from './service-tier.ts'
import {
  boundsOf,
  decimalIn,
  type Json,
  objectIn,
  type SomeRates,
  type SourceList,
  type SourcePrice,
  type SourceRates,
  type SourceServiceTier,
  type SourceTiers,
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
  const base = ratesIn(cost)
  if (base === undefined) return 'it has no price'
  const makes = objectIn(details['modalities'])['output']
  const isImage = Array.isArray(makes) && makes.includes('image') && !makes.includes('text')
  if (Array.isArray(makes) && !makes.includes('text') && !isImage) {
    return `it makes ${makes.join(', ')}, priced by tokens`
  }
  const { context, input: maxInput, output: maxOutput } = objectIn(details['limit'])
  const lost: string[] = []
  const tiers = tiersOf(cost, base, lost)
  lost.push(...strangersIn(cost, base))
  const serviceTiers = modesOf(objectIn(objectIn(details['experimental'])['modes']), tiers, lost)
  const isFree = tiers.every(({ rates: each }) => isZero(each.input) && isZero(each.output))
  const kind = isImage ? 'image' : /embed/i.test(model) ? 'embedding' : 'text'
  return {
    id,
    model,
    kind,
    terms: {
      unit: 'token',
      tiers,
      ...(Object.keys(serviceTiers).length > 0 && { serviceTiers }),
    },
    ...(!isImage && boundsOf(maxInput ?? context, maxOutput)),
    lost,
    rank: isFree ? rank + 1_000 : rank,
  }
}

/** Rates have the names that they have here. */
const someRates = (cost: Json): SomeRates =>
  Object.fromEntries(
    rateNames.flatMap((name) => {
      const rate = decimalIn(cost[name])
      return rate === undefined ? [] : [[name, rate] as const]
    }),
  )

function ratesIn(cost: Json): SourceRates | undefined {
  const rates = someRates(cost)
  const { input, output } = rates
  return input === undefined || output === undefined ? undefined : { ...rates, input, output }
}

const read: ReadonlySet<string> = new Set([...rateNames, 'tiers', 'context_over_200k'])

/** Fields of a cost that no rate here is for. */
const strangersIn = (cost: Json, { output }: SourceRates): string[] =>
  Object.entries(cost).flatMap(([name, value]) => {
    const rate = decimalIn(value)
    if (read.has(name) || (rate !== undefined && isZero(rate))) return []
    if (name !== 'reasoning') return [`cost.${name}`]
    const isOutput = rate !== undefined && isSame(rate, output)
    return isOutput ? [] : ['cost.reasoning (reasoning is charged as output)']
  })

interface Step {
  above: number
  rates: SourceRates
}

/** `tiers` hold for inputs above their size; `context_over_200k` is the older word for one of them. */
function tiersOf(cost: Json, base: SourceRates, lost: string[]): SourceTiers {
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

function stepOf({ tier, ...cost }: Json, lost: string[]): Step[] {
  const { type, size } = objectIn(tier)
  const above = wholeIn(size)
  const rates = ratesIn(cost)
  if (type === 'context' && above !== undefined && rates !== undefined) {
    lost.push(...strangersIn(cost, rates).map((name) => `tiers.${name}`))
    return [{ above, rates }]
  }
  lost.push('cost.tiers (one does not depend on the size of the input)')
  return []
}

function over200k(cost: Json): Step[] {
  const rates = ratesIn(objectIn(cost['context_over_200k']))
  return rates === undefined ? [] : [{ above: 200_000, rates }]
}

/** Modes that the fields of a request select: `service_tier`, or `speed`, which is the tier `fast`. */
function modesOf(modes: Json, tiers: SourceTiers, lost: string[]) {
  const found: Record<string, SourceServiceTier> = {}
  for (const [mode, entry] of Object.entries(modes)) {
    const { cost, provider } = objectIn(entry)
    if (cost === undefined) continue
    const { service_tier: tier, speed } = objectIn(objectIn(provider)['body'])
    const name = tier ?? speed
    const field = `experimental.modes.${mode}`
    const own =
      typeof name === 'string' && /^[a-z][a-z0-9_-]{0,31}$/.test(name) && !noTiers.includes(name)
    const made = own ? serviceTierOf(tiers, someRates(objectIn(cost))) : undefined
    if (made === undefined) {
      lost.push(own ? field : `${field} (no service tier selects it)`)
      continue
    }
    found[name as string] = made.tier
    for (const rate of made.lost) lost.push(`${field}.cost.${rate} (charged as its other rates)`)
    if (made.isFlat) lost.push(`${field} (above a size of the input it costs as below)`)
  }
  return found
}
