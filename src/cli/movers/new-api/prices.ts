// Ratios of new-api as prices: 1 is two dollars for a million input tokens. A group's ratio becomes prices
// of the accounts in it.
import type { PriceDeclaration } from '../../../contract/config-schema/index.ts'
import { amountText, type Decimal, decimalOf, one, times } from '../money.ts'
import type { Plan } from '../plan.ts'
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

const two: Decimal = { digits: 2n, scale: 0 }
const usualCacheWrite: Decimal = { digits: 125n, scale: 2 }

export function addPrices(plan: Plan, { options, rate, original, accounts }: PriceSources): void {
  const ratios = optionObject(options, 'GroupRatio')
  const ratioOf = (group: string): Decimal => decimalOf(ratios[group]) ?? one
  const general = ratioOf('default')
  const builtIn: string[] = []
  for (const [model, name] of original) {
    const rates = ratesOf(plan, options, { model, name, builtIn })
    if (rates === undefined) continue
    const add = (ratio: Decimal, account?: string) => {
      const price = priceOf(model, rates, times(rate, ratio), account)
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

function ratesOf(
  plan: Plan,
  options: ReadonlyMap<string, string>,
  { model, name, builtIn }: PricedModel,
): Rates | undefined {
  const ratio = (option: string): Decimal | undefined =>
    decimalOf(optionObject(options, option)[name])
  if (optionObject(options, 'billing_setting.billing_mode')[name] === 'tiered_expr') {
    const expression = optionObject(options, 'billing_setting.billing_expr')[name]
    const rates = linearRates(String(expression ?? ''))
    if (rates === undefined) plan.leave('price', model, `the expression ${String(expression)}`)
    return rates
  }
  if (ratio('ModelPrice') !== undefined) {
    plan.leave('price', model, 'a price per call: make a price by tokens or images')
    return undefined
  }
  const own = ratio('ModelRatio')
  if (own === undefined) {
    const reason =
      "the option ModelRatio does not have it, and new-api's own defaults are not known here"
    plan.leave('price', model, `${reason}: make a price; a model that has none is not served`)
    return undefined
  }
  const input = times(own, two)
  const completion = completionRatio(name, ratio('CompletionRatio'))
  if (completion.isBuiltIn) builtIn.push(model)
  return { input, output: times(input, completion.ratio), ...otherRates(input, ratio) }
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
  rates: Rates,
  factor: Decimal,
  account: string | undefined,
): PriceDeclaration | undefined {
  const pairs = Object.entries(rates).map(
    ([name, dollars]) => [name, amountText(times(dollars, factor))] as const,
  )
  if (pairs.some(([, amount]) => amount === undefined)) return undefined
  return {
    model,
    ...(account !== undefined && { account }),
    unit: 'token',
    per_million: Object.fromEntries(pairs),
  } as PriceDeclaration
}
