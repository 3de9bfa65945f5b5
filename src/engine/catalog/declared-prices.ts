// Matches stored price versions with the declared ones. Versions are never deleted, so those that
// the file no longer declares must be told apart from those it does.
import { builtinModels } from '../../catalog/builtin.ts'
import { knownModel, namingProblem } from '../../catalog/virtual-models.ts'
import type { Model } from '../../contract/catalog.ts'
import {
  type FileDeclaration,
  modelFrom,
  type PriceDeclaration,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { hasBegun, type Price, unitProblem } from '../../contract/price.ts'

type Whose = Pick<PriceDeclaration, 'model' | 'account'>

/** Whether both belong to one price list: of one model, general or for the same account. */
export const isOfList = (
  { model, account }: Pick<Price, 'model' | 'account'>,
  declared: Whose,
): boolean =>
  model === declared.model &&
  (declared.account === undefined
    ? account === undefined
    : account !== undefined && [account.name, account.id].includes(declared.account))

/**
 * The last version for the same start or, where none is declared, the last that has begun. A start
 * declared beside it belongs to another version.
 */
export function lastVersion(
  declared: PriceDeclaration,
  declarations: readonly PriceDeclaration[],
  versions: readonly Price[],
  nowMs: number,
): Price | undefined {
  const startMs = startOf(declared)
  const dated = declarations
    .filter(({ model, account }) => model === declared.model && account === declared.account)
    .map(startOf)
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

export const saysTheSame = (declared: PriceDeclaration, { terms }: Price): boolean =>
  Bun.deepEquals(terms, termsFrom(declared), true)

/** All versions except those of the file that it no longer declares. */
export function withoutDropped(
  versions: readonly Price[],
  declarations: readonly PriceDeclaration[],
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
  { models, prices }: FileDeclaration,
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
  const mispriced = prices.flatMap(({ model: name, unit }, index) => {
    const model = known.get(name)
    const wrong = model === undefined ? undefined : priceProblem(model, unit)
    return wrong === undefined ? [] : [{ says: wrong, at: ['prices', index] }]
  })
  return [...misnamed, ...mispriced]
}

function priceProblem(model: Model, unit: PriceDeclaration['unit']): string | undefined {
  const { name, alias } = model
  if (alias !== undefined) return `'${name}' is an alias and has the price of '${alias}'`
  const wrong = unitProblem(model, unit)
  return wrong === undefined ? undefined : `the unit of the price of '${name}' ${wrong}`
}
