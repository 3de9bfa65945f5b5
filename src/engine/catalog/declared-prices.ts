// Matches stored versions of prices and costs with the declared ones. Versions are never deleted, so those that
// the file no longer declares must be told apart from those it does.
import { builtinModels } from '../../catalog/builtin.ts'
import { knownModel, namingProblem } from '../../catalog/virtual-models.ts'
import { isNameOnly, type Model } from '../../contract/catalog.ts'
import {
  type CostDeclaration,
  type FileDeclaration,
  modelFrom,
  type PriceDeclaration,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { hasBegun, type Price, unitProblem } from '../../contract/price.ts'

type Declaration = PriceDeclaration | CostDeclaration

/** The account of a price and the channel of a cost; neither: the general list. */
export const whoseOf = (declared: Declaration | Pick<PriceDeclaration, 'account'>) => ({
  account: 'account' in declared ? declared.account : undefined,
  channel: 'channel' in declared ? declared.channel : undefined,
})

/** Whether both belong to one list of a model: general, for the same account or of the same channel. */
export function isOfList(
  { model, account, channel }: Pick<Price, 'model' | 'account' | 'channel'>,
  declared: Declaration | Pick<PriceDeclaration, 'model' | 'account'>,
): boolean {
  const whose = whoseOf(declared)
  if (model !== declared.model || channel !== whose.channel) return false
  return whose.account === undefined
    ? account === undefined
    : account !== undefined && [account.name, account.id].includes(whose.account)
}

/**
 * The last version for the same start or, where none is declared, the last that has begun. A start
 * declared beside it belongs to another version.
 */
export function lastVersion(
  declared: Declaration,
  declarations: readonly Declaration[],
  versions: readonly Price[],
  nowMs: number,
): Price | undefined {
  const startMs = startOf(declared)
  const { account, channel } = whoseOf(declared)
  const isSameList = (other: Declaration) => {
    const whose = whoseOf(other)
    return other.model === declared.model && whose.account === account && whose.channel === channel
  }
  const dated = declarations.filter(isSameList).map(startOf)
  const fits = (price: Price) => {
    if (!isOfList(price, declared)) return false
    const fromMs = price.effectiveFromMs
    return startMs === undefined
      ? hasBegun(price, nowMs) && !dated.includes(fromMs)
      : fromMs === startMs
  }
  return versions
    .filter(fits)
    .toSorted((a, b) => a.effectiveFromMs - b.effectiveFromMs || (a.id < b.id ? -1 : 1))
    .at(-1)
}

export const saysTheSame = (declared: Declaration, { terms, currency }: Price): boolean =>
  Bun.deepEquals(terms, termsFrom(declared), true) &&
  currency === ('currency' in declared ? declared.currency : undefined)

/** All versions except those of the file that it no longer declares. */
export function withoutDropped(
  versions: readonly Price[],
  declarations: readonly Declaration[],
  nowMs: number,
): Price[] {
  const fromFile = versions.filter(({ source }) => source === 'file')
  const versionsOf = Map.groupBy(fromFile, ({ model }) => model)
  const declaredFor = Map.groupBy(declarations, ({ model }) => model)
  const kept = new Set(
    declarations.map((declared) => {
      const { model } = declared
      const same = (versionsOf.get(model) ?? []).filter(
        (price) => isOfList(price, declared) && saysTheSame(declared, price),
      )
      return lastVersion(declared, declaredFor.get(model)!, same, nowMs)
    }),
  )
  return versions.filter((price) => price.source !== 'file' || kept.has(price))
}

interface Misfit {
  says: string
  /** The setting in the file. */
  at: readonly (string | number)[]
}

/**
 * Declarations of the file that do not fit its models, one sentence each: names over models that are
 * not there, and prices in other units. `stored`: models of the admin API.
 */
export function misfitsIn(
  { models, prices, costs }: FileDeclaration,
  stored: readonly Model[] = [],
): Misfit[] {
  const declared = models.map((model) => modelFrom(model, 'file'))
  const known = new Map(
    [...builtinModels, ...stored, ...declared].map((model) => [model.name, model]),
  )
  const misnamed = declared.flatMap((model, index) => {
    const wrong = namingProblem(model, (name) => knownModel(known, name))
    return wrong === undefined
      ? []
      : [{ says: `model '${model.name}' ${wrong}`, at: ['models', index] }]
  })
  const mispriced = (section: string, list: readonly Declaration[]) =>
    list.flatMap(({ model: name, unit }, index) => {
      const model = known.get(name)
      if (model === undefined) return []
      const wrong = section === 'costs' ? costProblem(model, unit) : priceProblem(model, unit)
      return wrong === undefined ? [] : [{ says: wrong, at: [section, index] }]
    })
  return [...misnamed, ...mispriced('prices', prices), ...mispriced('costs', costs)]
}

/** A name over other models costs what the one that serves takes. */
export function costProblem(model: Model, unit: Declaration['unit']): string | undefined {
  if (isNameOnly(model)) return `'${model.name}' is a name over other models; costs are of those`
  const wrong = unitProblem(model, unit)
  return wrong === undefined ? undefined : `the unit of the cost of '${model.name}' ${wrong}`
}

function priceProblem(model: Model, unit: Declaration['unit']): string | undefined {
  const { name, alias } = model
  if (alias !== undefined) return `'${name}' is an alias and has the price of '${alias}'`
  const wrong = unitProblem(model, unit)
  return wrong === undefined ? undefined : `the unit of the price of '${name}' ${wrong}`
}
