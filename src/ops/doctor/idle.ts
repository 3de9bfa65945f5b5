// Declarations that a gateway would take and that have no effect: patterns that fit nothing, prices of models
// that do not exist, tokens without an account.
import type { Channel, Model } from '../../contract/catalog.ts'
import type { FileDeclaration } from '../../contract/config-schema/index.ts'
import { presets } from '../../contract/config-schema/names.ts'
import type { Price } from '../../contract/price.ts'
import { matches } from '../../lib/text/pattern.ts'

interface Idle {
  says: string
  advice: string
}

const discover = (channel: string): string =>
  `add those of its upstream with: gateway channel discover ${channel} --add`

/** Patterns match names of the catalog only, never what an upstream happens to have. */
export function idleModels(
  { name, models: served, preset }: Channel,
  models: readonly Model[],
): Idle[] {
  const fits = (pattern: string) => models.some((model) => matches(pattern, model.name))
  const given = Object.keys(served)
  // Patterns of a preset are what its provider may have, not what the operator asked for.
  const presetModels = presets.get(preset ?? '')?.models ?? {}
  const patterns = given.filter((pattern) => !Object.hasOwn(presetModels, pattern) || fits(pattern))
  if (patterns.length === 0) {
    return [{ says: `channel '${name}' serves no model`, advice: discover(name) }]
  }
  return patterns
    .filter((pattern) => pattern.endsWith('*') && !fits(pattern))
    .map((pattern) => ({
      says: `channel '${name}' serves ${pattern}, and no model of the catalog is called so`,
      advice: `declare models under models:, or ${discover(name)}`,
    }))
}

export function idleDeclarations(
  file: FileDeclaration,
  models: readonly Model[],
  stored: readonly Pick<Price, 'model'>[],
): Idle[] {
  const fits = (pattern: string) => models.some(({ name }) => matches(pattern, name))
  // A dated name belongs to the model that it begins with.
  const isKnown = (name: string) => models.some((model) => `${name}-`.startsWith(`${model.name}-`))
  return [
    ...file.tokens.flatMap(({ name, models: allowed = [] }) =>
      allowed
        .filter((pattern) => !fits(pattern) && !isKnown(pattern))
        .map((pattern) => ({
          says: `token '${name}' may use ${pattern}, and no model of the catalog is called so`,
          advice: 'correct the name, or declare the model',
        })),
    ),
    ...idleBudgets(file),
    ...unpricedNames(file, stored),
    ...file.prices
      .filter(({ model }) => !isKnown(model))
      .map(({ model }) => ({
        says: `there is a price of ${model}, and no model is called so`,
        advice: 'correct the name, or declare the model',
      })),
  ]
}

/** Calls cannot carry a tag whose name the account does not declare. */
const idleBudgets = ({ accounts }: FileDeclaration): Idle[] =>
  accounts.flatMap(({ name, tag_names: names = [], tag_budgets: budgets = [] }) =>
    budgets
      .filter(({ tag }) => !names.includes(tag.slice(0, tag.indexOf('='))))
      .map(({ tag }) => ({
        says: `account '${name}' has a budget for ${tag}, and its calls cannot carry that tag`,
        advice: `add ${tag.slice(0, tag.indexOf('='))} to its tag_names`,
      })),
  )

const unpricedNames = (file: FileDeclaration, stored: readonly Pick<Price, 'model'>[]): Idle[] =>
  file.models
    .filter((model) => 'virtual' in model && model.price === 'own')
    .filter(({ name }) => [...stored, ...file.prices].every(({ model }) => model !== name))
    .map(({ name }) => ({
      says: `model '${name}' has a price of its own (price: own), and there is none`,
      advice: `add a price of ${name}, or write price: served`,
    }))

export const strayTokens = (
  { tokens, accounts }: FileDeclaration,
  stored: readonly string[],
): { index: number; name: string; account: string }[] =>
  tokens
    .map(({ name, account }, index) => ({ index, name, account }))
    .filter(
      ({ account }) => !stored.includes(account) && accounts.every(({ name }) => name !== account),
    )
