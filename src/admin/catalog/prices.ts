// Price versions, for everybody and for single accounts. None is ever changed.
import {
  declaredTerms,
  type PriceDeclaration,
  priceDeclaration,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { type Price, unitProblem } from '../../contract/price.ts'
import { isInFile } from '../../engine/catalog/import-prices.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { insertPrice, listPrices } from '../../store/catalog/prices.ts'
import {
  listOf,
  notFound,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'

export const prices: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/prices',
    route(async ({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const wanted = query('account')
      const account = wanted === undefined ? undefined : await findAccount(store.read, wanted)
      if (wanted !== undefined && account === undefined) return notFound('account', wanted)
      const filter = { ...page, model: query('model'), accountId: account?.id }
      const versions = await listPrices(store.read, filter)
      return listOf(versions, (price) => priceView(engine, price))
    }),
  )

  app.post(
    '/prices',
    route(async (_, x) => {
      const body = await readBody(x, deps, priceDeclaration)
      if (body instanceof Refusal) return body
      const whose = await whoseOf(engine, body)
      if (whose instanceof Refusal) return whose
      if (isInFile(engine, whose)) {
        const message = `the price of '${body.model}' is declared in the configuration file, which wins`
        return refuse('conflict', `${message}; change it there`, { param: 'model' })
      }
      const price: Price = {
        id: newShortId('price', x.atMs),
        ...whose,
        terms: termsFrom(body),
        // A version that started in the past would reprice calls that are already charged.
        effectiveFromMs: Math.max(startOf(body) ?? x.atMs, x.atMs),
        source: 'api',
      }
      await store.tx(async (tx) => {
        price.effectiveFromMs = await insertPrice(tx, price, x.atMs)
        const after = { ...body, effective_from: time(price.effectiveFromMs) }
        await recordChange(tx, x, { action: 'price.create', subject: price.id, after })
      })
      await announce(engine)
      return priceView(engine, price)
    }, 201),
  )
}

/** Which list a price belongs to. */
export async function whoseOf(
  engine: Engine,
  { model, account: wanted, unit }: Pick<PriceDeclaration, 'model' | 'account' | 'unit'>,
  at = '',
): Promise<Pick<Price, 'model' | 'account'> | Refusal> {
  const priced = engine.catalog.models.get(model)
  if (priced === undefined) {
    return refuse('invalid_request', `there is no model '${model}'`, { param: `${at}model` })
  }
  const wrong = unitProblem(priced, unit)
  if (wrong !== undefined) {
    return refuse('invalid_request', `${at}unit ${wrong}`, { param: `${at}unit` })
  }
  if (wanted === undefined) return { model }
  const account = await findAccount(engine.store.read, wanted)
  return account === undefined
    ? refuse('invalid_request', `there is no account '${wanted}'`, { param: `${at}account` })
    : { model, account: { id: account.id, name: account.name } }
}

export function priceView(engine: Engine, price: Price) {
  const { unit, ...terms } = declaredTerms(price.terms)
  return {
    id: price.id,
    model: price.model,
    account: price.account?.name ?? null,
    unit,
    ...terms,
    effective_from: time(price.effectiveFromMs),
    current: engine.prices.listed(price.model, price.account?.id)?.id === price.id,
    source: price.source,
  }
}
