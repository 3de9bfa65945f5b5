// Ratios of new-api as prices: 1 is two dollars for a million input tokens. A group's ratio becomes prices
// of the accounts in it.
import type { PriceDeclaration } from '../../../contract/config-schema/index.ts'
import { amountText, type Decimal, decimalOf, one, times } from '../money.ts'
import type { Plan } from '../plan.ts'
import { kindOf } from './channels.ts'
import { completionRatio } from './completion-ratio.ts'
import type { Groups } from './customers.ts'
import { optionObject } from './quota.ts'

interface PriceSources {
  options: ReadonlyMap<string, string>
  rate: Decimal
  /** The names there of the models here. */
  original: ReadonlyMap<string, string>
  accounts: Groups
}

/** By the name of the rate; dollars per million. */
type Rates = Readonly<Record<string, Decimal>>

/** What a price says in dollars: rates of tokens, one amount, or nothing. */
type Terms =
  | { unit: 'token'; rates: Rates }
  | { unit: 'image' | 'search' | 'character'; field: string; dollars: Decimal }
  | { unit: 'free' }

const tokens = (rates: Rates): Terms => ({ unit: 'token', rates })

const two: Decimal = { digits: 2n, scale: 0 }
const usualCacheWrite: Decimal = { digits: 125n, scale: 2 }

export function addPrices(plan: Plan, { options, rate, original, accounts }: PriceSources): void {
  const ratios = optionObject(options, 'GroupRatio')
  const ratioOf = (group: string): Decimal => decimalOf(ratios[group]) ?? one
  const general = ratioOf('default')
  const builtIn: string[] = []
  for (const [model, name] of original) {
    const terms = termsOf(plan, options, { model, name, builtIn })
    if (terms === undefined) continue
    const add = (ratio: Decimal, account?: string) => {
      const price = priceOf(model, terms, times(rate, ratio), account)
      if (price === undefined) plan.leave('price', model, 'larger than amounts can be')
      else plan.prices.push(price)
    }
    add(general)
    for (const [group, members] of accounts) {
      if (amountText(ratioOf(group)) === amountText(general)) continue
      for (const account of members) add(ratioOf(group), account)
    }
  }
  if (builtIn.length > 0) {
    const reason = "output follows ratios that are part of new-api's code: check them"
    plan.change('price', builtIn.join(', '), reason)
  }
  const unread = [
    'GroupGroupRatio',
    'TopupGroupRatio',
    'group_ratio_setting.group_special_usable_group',
  ]
  for (const option of unread.filter(
    (each) => Object.keys(optionObject(options, each)).length > 0,
  )) {
    plan.leave('setting', option, 'prices are of models and accounts here')
  }
}

interface PricedModel {
  model: string
  /** As it is called there. */
  name: string
  builtIn: string[]
}

function termsOf(
  plan: Plan,
  options: ReadonlyMap<string, string>,
  { model, name, builtIn }: PricedModel,
): Terms | undefined {
  const ratio = (option: string): Decimal | undefined =>
    decimalOf(optionObject(options, option)[name])
  if (optionObject(options, 'billing_setting.billing_mode')[name] === 'tiered_expr') {
    const expression = optionObject(options, 'billing_setting.billing_expr')[name]
    const rates = linearRates(String(expression ?? ''))
    if (rates === undefined) plan.leave('price', model, `the expression ${String(expression)}`)
    return rates && tokens(rates)
  }
  const perCall = ratio('ModelPrice')
  if (perCall !== undefined) return perCallTerms(plan, { model, name }, perCall)
  const own = ratio('ModelRatio')
  if (own === undefined) {
    const reason =
      "the option ModelRatio does not have it, and new-api's own defaults are not known here"
    plan.leave('price', model, `${reason}: make a price; a model that has none is not served`)
    return undefined
  }
  const input = times(own, two)
  const byUnit = unitTerms(plan, { model, name }, input)
  if (byUnit !== undefined) return byUnit === 'left' ? undefined : byUnit
  const completion = completionRatio(name, ratio('CompletionRatio'))
  if (completion.isBuiltIn) builtIn.push(model)
  return tokens({ input, output: times(input, completion.ratio), ...otherRates(input, ratio) })
}

type Named = Pick<PricedModel, 'model' | 'name'>

function perCallTerms(plan: Plan, { model, name }: Named, dollars: Decimal): Terms | undefined {
  const kind = kindOf(name)
  if (kind === 'image') {
    plan.change('price', model, 'a price per call becomes one per image')
    return { unit: 'image', field: 'per_image', dollars }
  }
  if (kind === 'rerank') {
    plan.change('price', model, 'a price per call becomes one per search, as its upstream counts')
    return { unit: 'search', field: 'per_search', dollars }
  }
  if (kind === 'moderation' && dollars.digits === 0n) return { unit: 'free' }
  plan.leave('price', model, 'a price per call: make a price by tokens or images')
  return undefined
}

/** What new-api counts as tokens and is none. */
function unitTerms(
  plan: Plan,
  { model, name }: Named,
  perMillion: Decimal,
): Terms | 'left' | undefined {
  // There, a character is a token of these.
  if (kindOf(name) === 'speech' && name.startsWith('tts')) {
    return { unit: 'character', field: 'per_million', dollars: perMillion }
  }
  if (kindOf(name) === 'moderation' && perMillion.digits === 0n) return { unit: 'free' }
  if (!/whisper/i.test(name)) return undefined
  plan.leave('price', model, 'new-api makes tokens of seconds: make a price by the minute')
  return 'left'
}

function otherRates(input: Decimal, ratio: (option: string) => Decimal | undefined): Rates {
  const [read, image, audio] = [ratio('CacheRatio'), ratio('ImageRatio'), ratio('AudioRatio')]
  const completion = ratio('AudioCompletionRatio')
  const inputAudio = audio === undefined ? undefined : times(input, audio)
  return {
    ...(read !== undefined && { cache_read: times(input, read) }),
    cache_write: times(input, ratio('CreateCacheRatio') ?? usualCacheWrite),
    ...(image !== undefined && { input_image: times(input, image) }),
    ...(inputAudio !== undefined && {
      input_audio: inputAudio,
      output_audio: times(inputAudio, completion ?? one),
    }),
  }
}

const variables: Readonly<Record<string, string>> = {
  p: 'input',
  c: 'output',
  cr: 'cache_read',
  cc: 'cache_write',
  cc1h: 'cache_write_1h',
  img: 'input_image',
  ai: 'input_audio',
  img_o: 'output_image',
  ao: 'output_audio',
}

/** `tier("base", p * 5 + c * 25)`: one tier of plain rates. Others have no equal here. */
function linearRates(expression: string): Rates | undefined {
  const sum = /^(?:v1:)?\s*tier\(\s*"[^"]*"\s*,([^()]*)\)\s*$/.exec(expression)?.[1]
  const rates: Record<string, Decimal> = {}
  for (const part of sum?.split('+') ?? []) {
    const [, variable = '', figure = ''] = /^\s*(\w+)\s*\*\s*([\d.]+)\s*$/.exec(part) ?? []
    const [rate, value] = [variables[variable], decimalOf(figure)]
    if (rate === undefined || value === undefined) return undefined
    rates[rate] = value
  }
  return rates['input'] === undefined || rates['output'] === undefined ? undefined : rates
}

function priceOf(
  model: string,
  terms: Terms,
  factor: Decimal,
  account: string | undefined,
): PriceDeclaration | undefined {
  const amounts = amountsOf(terms, factor)
  if (Object.values(amounts).includes(undefined)) return undefined
  const { unit } = terms
  const said = unit === 'token' ? { per_million: amounts } : amounts
  return { model, ...(account !== undefined && { account }), unit, ...said } as PriceDeclaration
}

/** Undefined: larger than amounts can be. */
function amountsOf(terms: Terms, factor: Decimal): Record<string, string | undefined> {
  if (terms.unit === 'free') return {}
  const dollars = terms.unit === 'token' ? terms.rates : { [terms.field]: terms.dollars }
  return Object.fromEntries(
    Object.entries(dollars).map(([name, each]) => [name, amountText(times(each, factor))]),
  )
}
