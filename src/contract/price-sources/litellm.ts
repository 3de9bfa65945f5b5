// LiteLLM's model_prices_and_context_window.json: one map of models, prices in US dollars per token, per
// image, query, character or second. Every field that tells a price is carried or told.
import { rateNames } from '../price.ts'
import { type Decimal, isSame, isZero, million, times } from './decimal.ts'
import {
  type Cells,
  cellsOf,
  dearest,
  type Names,
  perMillion,
  rangesOf,
  tiersOf,
} from './litellm-rates.ts'
import { factorOf, serviceTierOf } from './service-tier.ts'
import {
  boundsOf,
  decimalIn,
  type Json,
  objectIn,
  type SourceHours,
  type SourceList,
  type SourcePrice,
  type SourceServiceTier,
  type SourceTerms,
  type SourceTiers,
  type SourceTokenTerms,
  type SourceUnitTerms,
} from './source.ts'

/** Not models. */
const notes = new Set(['sample_spec', 'fallback_generalizations'])

const kinds: Readonly<Record<string, SourcePrice['kind']>> = {
  chat: 'text',
  completion: 'text',
  responses: 'text',
  embedding: 'embedding',
  image_generation: 'image',
  image_edit: 'image',
  rerank: 'rerank',
  moderation: 'moderation',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
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
  const fields = new Fields(details)
  const terms =
    kind === 'image' ? imageTerms(fields) : (unitTerms(kind, fields) ?? tokenTerms(fields))
  if (typeof terms === 'string') return terms
  const context = details['max_input_tokens'] ?? details['max_tokens']
  const isByTokens = terms.unit === 'token'
  return {
    id,
    model: key.startsWith(`${provider}/`) ? key.slice(provider.length + 1) : key,
    kind,
    terms,
    ...(isByTokens && isText(kind) && boundsOf(context, details['max_output_tokens'])),
    lost: fields.lost(),
    // Keys without a path are those of the makers.
    rank: key.split('/').length - 1,
  }
}

const isText = (kind: SourcePrice['kind']): boolean => kind === 'text' || kind === 'embedding'

/** The fields of an entry, and which of them have found their place. */
class Fields {
  readonly #taken = new Set<string>()
  readonly #reasons: string[] = []
  readonly details: Json

  constructor(details: Json) {
    this.details = details
  }

  take(name: string): unknown {
    this.#taken.add(name)
    return this.details[name]
  }

  lose(name: string, why?: string): void {
    this.#taken.add(name)
    if (isSaid(this.details[name.split('.')[0]!])) {
      this.#reasons.push(why === undefined ? name : `${name} (${why})`)
    }
  }

  /** Whatever tells a price and was not taken. */
  lost(): string[] {
    for (const name of Object.keys(this.details)) {
      if (/cost|pric|uplift|provider_specific/.test(name) && !this.#taken.has(name)) this.lose(name)
    }
    return this.#reasons
  }
}

/** A price of 0 loses nothing. */
function isSaid(value: unknown): boolean {
  const decimal = decimalIn(value)
  if (decimal !== undefined) return !isZero(decimal)
  return typeof value === 'object' && value !== null && Object.values(value).some(isSaid)
}

const minute: Decimal = { digits: 60n, scale: 0 }

interface UnitFields {
  /** Some rows say the same in two of them; one is charged. */
  names: readonly string[]
  terms(each: Decimal): SourceUnitTerms
}

const unitFields: Readonly<Partial<Record<SourcePrice['kind'], UnitFields>>> = {
  rerank: {
    names: ['input_cost_per_query'],
    terms: (perSearch) => ({ unit: 'search', perSearch }),
  },
  speech: {
    names: ['input_cost_per_character'],
    terms: (each) => ({ unit: 'character', perMillion: times(each, million) }),
  },
  transcription: {
    names: ['input_cost_per_second', 'output_cost_per_second'],
    terms: (second) => ({ unit: 'audio_second', perMinute: times(second, minute) }),
  },
}

/** Undefined: by tokens, if at all. */
function unitTerms(kind: SourcePrice['kind'], fields: Fields): SourceUnitTerms | undefined {
  if (kind === 'moderation') return isFree(fields.details) ? { unit: 'free' } : undefined
  const { names, terms } = unitFields[kind] ?? { names: [] }
  const amounts = names.flatMap((name) => decimalIn(fields.details[name]) ?? [])
  const each = dearest(amounts.filter((amount) => !isZero(amount)))
  if (each === undefined || terms === undefined) return undefined
  for (const name of names) fields.take(name)
  return terms(each)
}

function isFree(details: Json): boolean {
  const costs = Object.entries(details).filter(([name]) => /cost/.test(name))
  return costs.length > 0 && !costs.some(([, value]) => isSaid(value))
}

function imageTerms(fields: Fields): SourceTerms | string {
  const { details } = fields
  if (details['output_cost_per_image_token'] !== undefined) {
    const terms = tokenTerms(fields)
    if (typeof terms !== 'string') return terms
  }
  const name = details['output_cost_per_image'] === undefined ? 'input' : 'output'
  const perImage = decimalIn(fields.take(`${name}_cost_per_image`))
  return perImage === undefined
    ? 'its images are priced by pixels, which have no unit here'
    : { unit: 'image', perImage }
}

function tokenTerms(fields: Fields): SourceTerms | string {
  const { details } = fields
  const read = cellsOf(details)
  const ranges = details['tiered_pricing']
  const tiers = Array.isArray(ranges) ? rangesOf(ranges) : tiersOf(read.cells, details)
  if (tiers === undefined) return 'it has no price by tokens'
  for (const name of read.names.keys()) fields.take(name)
  for (const name of ['tiered_pricing', 'input_cost_per_token_cache_hit']) fields.take(name)
  loseReasoning(fields, tiers, ranges)
  const terms: SourceTokenTerms = { unit: 'token', tiers }
  const perCall = callsOf(fields)
  const { serviceTiers, geo } = namedFactors(fields)
  Object.assign(serviceTiers, tiersByName(fields, tiers, read.cells, read.names))
  const hours = hoursOf(fields, tiers)
  if (Object.keys(perCall).length > 0) terms.perCall = perCall
  if (Object.keys(serviceTiers).length > 0) terms.serviceTiers = serviceTiers
  if (Object.keys(geo).length > 0) terms.geo = geo
  if (hours !== undefined) terms.hours = hours
  return terms
}

function loseReasoning(fields: Fields, tiers: SourceTiers, ranges: unknown): void {
  const why = 'reasoning is charged as output'
  const name = 'output_cost_per_reasoning_token'
  const own = perMillion(fields.take(name))
  if (own !== undefined && !isSame(own, tiers[0]!.rates.output)) fields.lose(name, why)
  const differs = (Array.isArray(ranges) ? ranges : []).some((range, at) => {
    const rate = perMillion(objectIn(range)[name])
    return rate !== undefined && !isSame(rate, tiers[at]!.rates.output)
  })
  if (differs) fields.lose(`tiered_pricing.${name}`, why)
}

/** Tools that the upstream runs. */
function callsOf(fields: Fields): Record<string, Decimal> {
  const calls: Record<string, Decimal> = {}
  const name = 'search_context_cost_per_query'
  const searches = Object.values(objectIn(fields.take(name))).flatMap(
    (each) => decimalIn(each) ?? [],
  )
  const search = dearest(searches)
  if (search !== undefined) calls['web_search'] = search
  if (searches.some((each) => !isSame(each, search!))) {
    fields.lose(name, 'the dearest of its sizes is taken')
  }
  const files = decimalIn(fields.take('file_search_cost_per_1k_calls'))
  if (files !== undefined && !isZero(files)) {
    calls['file_search'] = { digits: files.digits, scale: files.scale + 3 }
  }
  return calls
}

/** `provider_specific_entry: { us: 1.1, fast: 2 }`: a place, and a service tier. */
function namedFactors(fields: Fields) {
  const serviceTiers: Record<string, SourceServiceTier> = {}
  const geo: Record<string, Decimal> = {}
  const name = 'provider_specific_entry'
  for (const [key, value] of Object.entries(objectIn(fields.take(name)))) {
    const factor = decimalIn(value)
    if (factor === undefined || isZero(factor)) continue
    if (key === 'fast') serviceTiers[key] = { factor }
    else if (/^[a-z]{2}$/.test(key)) geo[key] = factor
    else fields.lose(`${name}.${key}`)
  }
  return { serviceTiers, geo }
}

const tierNames = { flex: 'flex', priority: 'priority', batches: 'batch' } as const

function tiersByName(fields: Fields, tiers: SourceTiers, cells: Cells, names: Names) {
  const found: Record<string, SourceServiceTier> = {}
  for (const [suffix, name] of Object.entries(tierNames)) {
    const own = cells.get(`0 ${suffix}`)
    const of = [...names].filter(([, cell]) => cell.tier === suffix)
    if (of.length === 0) continue
    const read = own === undefined ? undefined : serviceTierOf(tiers, own)
    if (read === undefined) {
      for (const [field] of of) fields.lose(field, `${name} has no rate of input and output`)
      continue
    }
    found[name] = read.tier
    for (const [field, { above, rate }] of of) {
      const isLost = above === 0 ? read.lost.includes(rate) : !isAsCharged(field)
      if (isLost) fields.lose(field, `charged as the other rates of ${name}`)
    }
    function isAsCharged(field: string): boolean {
      const { above, rate } = names.get(field)!
      if (!('factor' in read!.tier)) return false
      const base = cells.get(`${above} `)
      const there = cells.get(`${above} ${suffix}`)
      return base !== undefined && factorOf(base, there!, [rate], read!.tier.factor) !== undefined
    }
  }
  return found
}

/** `off_peak_pricing: { hours_utc: "16:30-00:30", … }`, where all of its rates are one factor. */
function hoursOf(fields: Fields, tiers: SourceTiers): SourceHours[] | undefined {
  const name = 'off_peak_pricing'
  const off = objectIn(fields.take(name))
  if (Object.keys(off).length === 0) return undefined
  const { hours_utc: given, ...rates } = off
  const { cells, names } = cellsOf(rates)
  const others = Object.keys(rates).filter((field) => !names.has(field))
  if (others.length > 0) fields.lose(name, `it has ${others.join(', ')}`)
  const base = tiers[0]!.rates
  const own = cells.size === 1 ? cells.get('0 ') : undefined
  const factor =
    own &&
    factorOf(
      base,
      own,
      rateNames.filter((rate) => rate in base),
    )
  const spans = [given].flat().map(spanOf)
  const isWhole = spans.length <= maxHours && !spans.includes(undefined)
  if (factor === undefined) fields.lose(name, 'its rates are not one factor of the others')
  else if (!isWhole) fields.lose(name, 'its hours cannot be read')
  if (factor === undefined || !isWhole || others.length > 0) return undefined
  return spans.map((span) => ({ ...span!, factor }))
}

/** Of a price here. */
const maxHours = 16

function spanOf(text: unknown): Omit<SourceHours, 'factor'> | undefined {
  const clock = '((?:[01]\\d|2[0-3]):[0-5]\\d)'
  const [, from, to] = new RegExp(`^${clock}-(?:${clock}|24:00)$`).exec(String(text)) ?? []
  return from === undefined ? undefined : { from, to: to ?? '00:00' }
}
