// Imports a price list into the price book: new entries become versions, existing ones stay, all or
// nothing. Knows no file format.

import type { PriceBook } from '../../billing/prices/price-book.ts'
import type { ListedPrice, ListProblem, ReadList } from '../../billing/prices/price-list.ts'
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Model } from '../../contract/catalog.ts'
import {
  modelFrom,
  type PriceDeclaration,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { type Price, unitProblem } from '../../contract/price.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { upsertModel } from '../../store/catalog/models.ts'
import { insertPrice, loadPrices } from '../../store/catalog/prices.ts'
import type { Store, Tx } from '../../store/index.ts'
import type { Declares } from '../base-deps.ts'
import { isOfList, saysTheSame } from './declared-prices.ts'
import { pricesOf } from './refresh.ts'

/** `superseded`: it exists already, and a later version has replaced it. */
type Outcome = 'added' | 'unchanged' | 'superseded'

export interface ImportedPrice {
  line: number
  outcome: Outcome
  /** The added version, or the equal one that exists. */
  price: Price
}

/** `models`: those that were not there. */
export type Imported = { prices: ImportedPrice[]; models: Model[] } | { problems: ListProblem[] }

interface ImportDeps extends Declares {
  readonly store: Store
  readonly catalog: Catalog
}

interface Sight {
  nowMs: number
  book: PriceBook
  /** By model: every version, and the current and future ones. */
  stored: ReadonlyMap<string, readonly Price[]>
  active: ReadonlyMap<string, readonly Price[]>
}

class Refused extends Error {
  readonly problems: ListProblem[]

  constructor(problems: ListProblem[]) {
    super('the list is refused')
    this.problems = problems
  }
}

/** Goes into the transaction of what is added. */
interface ImportNotes {
  price(tx: Tx, price: Price): Promise<void>
  model(tx: Tx, model: Model): Promise<void>
}

export async function importPrices(
  deps: ImportDeps,
  { prices: list, models: listed }: ReadList,
  { atMs, dryRun, createdBy }: { atMs: number; dryRun: boolean; createdBy?: string },
  notes: ImportNotes,
): Promise<Imported> {
  const models = listed
    .filter(({ name }) => !deps.catalog.models.has(name))
    .map((declared) => modelFrom(declared, 'api'))
  try {
    if (dryRun) {
      return { prices: await plan(deps, deps.store.read as Tx, list, models, atMs), models }
    }
    return await deps.store.tx(async (tx) => {
      const prices = await plan(deps, tx, list, models, atMs)
      for (const model of models) {
        await upsertModel(tx, model, atMs)
        await notes.model(tx, model)
      }
      for (const { outcome, price } of prices) {
        if (outcome !== 'added') continue
        await insertPrice(tx, createdBy === undefined ? price : { ...price, createdBy }, atMs)
        await notes.price(tx, price)
      }
      return { prices, models }
    })
  } catch (error) {
    if (error instanceof Refused) return { problems: error.problems }
    throw error
  }
}

async function plan(
  deps: ImportDeps,
  tx: Tx,
  list: readonly ListedPrice[],
  models: readonly Model[],
  nowMs: number,
): Promise<ImportedPrice[]> {
  const sight = sightOf(deps, await loadPrices(tx), nowMs)
  const accounts = await accountsIn(tx, list)
  const added = new Map(models.map((model) => [model.name, model]))
  const problems: ListProblem[] = []
  const planned = list.flatMap(({ declared, line }): ImportedPrice[] => {
    const wrong = (field: string, message: string) => {
      problems.push({ line, field, message })
      return []
    }
    const model = deps.catalog.models.get(declared.model) ?? added.get(declared.model)
    if (model === undefined) return wrong('model', `'${declared.model}' does not exist`)
    const misfit = unitProblem(model, declared.unit)
    if (misfit !== undefined) return wrong('unit', misfit)
    const account = declared.account === undefined ? undefined : accounts.get(declared.account)
    if (declared.account !== undefined && account === undefined) {
      return wrong('account', `'${declared.account}' does not exist`)
    }
    const found = judge(declared, account, sight)
    if (found.outcome === 'added' && isInFile(deps, found.price)) {
      return wrong('model', `'${declared.model}' is priced in the configuration file, which wins`)
    }
    return [{ line, ...found }]
  })
  problems.push(...clashes(planned))
  if (problems.length > 0) throw new Refused(problems.toSorted((a, b) => a.line - b.line))
  return planned
}

function sightOf({ declared }: Declares, stored: readonly Price[], nowMs: number): Sight {
  const book = pricesOf(declared.file, stored, () => nowMs)
  return {
    nowMs,
    book,
    stored: Map.groupBy(stored, ({ model }) => model),
    active: Map.groupBy(book.active(), ({ model }) => model),
  }
}

async function accountsIn(tx: Tx, list: readonly ListedPrice[]) {
  const accounts = new Map<string, { id: string; name: string }>()
  for (const wanted of new Set(list.flatMap(({ declared }) => declared.account ?? []))) {
    const account = await findAccount(tx, wanted)
    if (account !== undefined) accounts.set(wanted, { id: account.id, name: account.name })
  }
  return accounts
}

/** A start in the past means now: past charges do not change. */
function judge(
  declared: PriceDeclaration,
  account: Price['account'],
  { nowMs, book, stored, active: all }: Sight,
): Omit<ImportedPrice, 'line'> {
  const startMs = startOf(declared)
  const isOver = startMs === undefined || startMs <= nowMs
  const active = isOver
    ? book.listed(declared.model, account?.id)
    : all
        .get(declared.model)
        ?.find((price) => isOfList(price, declared) && price.effectiveFromMs === startMs)
  if (active !== undefined && saysTheSame(declared, active)) {
    return { outcome: 'unchanged', price: active }
  }
  const past = stored
    .get(declared.model)
    ?.find(
      (price) =>
        isOver &&
        price.effectiveFromMs === startMs &&
        isOfList(price, declared) &&
        saysTheSame(declared, price),
    )
  if (past !== undefined) return { outcome: 'superseded', price: past }
  const price: Price = {
    id: newShortId('price', nowMs),
    model: declared.model,
    ...(account !== undefined && { account }),
    terms: termsFrom(declared),
    effectiveFromMs: isOver ? nowMs : startMs,
    source: 'api',
  }
  return { outcome: 'added', price }
}

/** Whether gateway.yaml has a price for the same list: then no other can take effect. */
export const isInFile = (
  { declared }: Declares,
  price: Pick<Price, 'model' | 'account'>,
): boolean => declared.file.prices.some((each) => isOfList(price, each))

/** Two new versions of one list with the same start: only one could count. */
function clashes(planned: readonly ImportedPrice[]): ListProblem[] {
  const lines = new Map<string, number>()
  return planned.flatMap(({ line, outcome, price }) => {
    if (outcome !== 'added') return []
    const key = `${price.model} ${price.account?.id ?? ''} ${price.effectiveFromMs}`
    const first = lines.get(key)
    if (first === undefined) lines.set(key, line)
    const message = `is that of line ${first} too, and both would begin at the same time`
    return first === undefined ? [] : [{ line, field: 'model', message }]
  })
}
