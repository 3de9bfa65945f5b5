// What models cost by LiteLLM's config: its own figures, or those of LiteLLM's list of prices.

import { priceDeclaration } from '../../../contract/config-schema/index.ts'
import { convert, maxPlaces } from '../../../contract/price-sources/convert.ts'
import { withNumbersAsText } from '../../../contract/price-sources/decimal.ts'
import type { Decimal } from '../money.ts'
import type { ModelDraft, Plan } from '../plan.ts'
import type { Deployment } from './deployments.ts'

type Json = Readonly<Record<string, unknown>>

const isFigure = (name: string): boolean => /cost|pricing|^max_(input_|output_)?tokens$/.test(name)

const figuresIn = (settings: Json): Json =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => isFigure(name)))

export function addPrices(plan: Plan, deployments: readonly Deployment[], rate: Decimal): void {
  const file = fileOf(plan, deployments)
  // The same digits as in the file: prices are not rounded on the way.
  const digits = JSON.parse(withNumbersAsText(JSON.stringify(file))) as Json
  const converted = convert(digits, 'litellm', { factor: rate, places: maxPlaces, only: [] })
  const priced = new Set<string>()
  for (const price of converted.prices) {
    priced.add(price.model)
    plan.prices.push(priceDeclaration.parse(price))
  }
  for (const model of converted.models) {
    const { name, context_window, max_output_tokens } = model
    const draft = plan.models.get(name) as ModelDraft
    plan.models.set(name, {
      ...draft,
      ...(context_window !== undefined && { context_window }),
      ...(max_output_tokens !== undefined && { max_output_tokens }),
    })
  }
  for (const remark of converted.remarks.filter((each) => each.startsWith('simplified'))) {
    plan.change('price', 'prices', remark)
  }
  for (const name of Object.keys(file)) {
    if (priced.has(name)) continue
    const reason =
      'the config has no cost for it: give --prices with model_prices_and_context_window.json of LiteLLM, or ' +
      'make a price; a model that has none is not served'
    plan.leave('price', name, reason)
  }
}

/** A list of prices in LiteLLM's own form, of these models alone. */
function fileOf(plan: Plan, deployments: readonly Deployment[]): Record<string, Json> {
  const file: Record<string, Json> = {}
  for (const each of deployments) {
    if (!plan.models.has(each.name) || file[each.name] !== undefined) continue
    const figures = { ...each.listed, ...figuresIn(each.info), ...figuresIn(each.params) }
    file[each.name] = { ...figures, mode: each.mode, litellm_provider: '' }
  }
  return file
}
