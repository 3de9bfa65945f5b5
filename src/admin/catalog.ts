// Models and price versions.
import { z } from 'zod'
import type { Model } from '../contract/catalog.ts'
import {
  modelDeclaration,
  modelFrom,
  priceDeclaration,
  termsFrom,
} from '../contract/declarations.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Price, TokenRates } from '../contract/price.ts'
import type { Engine } from '../engine/engine.ts'
import { announce } from '../engine/refresh.ts'
import { formatNanos } from '../lib/decimal.ts'
import { newShortId } from '../lib/ids.ts'
import { findModel, upsertModel } from '../store/models.ts'
import { insertPrice, listPrices } from '../store/prices.ts'
import {
  listOf,
  noteChange,
  pageOfList,
  pageQuery,
  type Resource,
  readBody,
  route,
  time,
} from './route.ts'

export const catalog: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/models',
    route(({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const models = pageOfList(engine.catalog.models.values(), ({ name }) => name, page)
      return listOf(models, (model) => modelView(engine, model))
    }),
  )

  app.put(
    '/models/:id',
    route(async ({ id }, x) => {
      const named = z.looseObject({}).transform((body) => ({ ...body, name: id }))
      const body = await readBody(x, deps, named.pipe(modelDeclaration))
      if (body instanceof Refusal) return body
      const shown = engine.catalog.models.get(body.name)
      if (shown?.source === 'file') {
        return refuse('conflict', `model '${body.name}' is declared in the configuration file`)
      }
      const after = modelFrom(body, 'api')
      await store.tx(async (tx) => {
        const before = (await findModel(tx, body.name)) ?? shown
        await upsertModel(tx, after, x.atMs)
        await noteChange(tx, x.atMs, {
          action: 'model.put',
          subject: body.name,
          ...(before !== undefined && { before: declarationView(before) }),
          after: declarationView(after),
        })
      })
      await announce(engine)
      return modelView(engine, engine.catalog.models.get(body.name)!)
    }),
  )

  app.get(
    '/prices',
    route(async ({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const versions = await listPrices(store.read, { ...page, model: query('model') })
      return listOf(versions, (price) => priceView(engine, price))
    }),
  )

  app.post(
    '/prices',
    route(async (_, x) => {
      const body = await readBody(x, deps, priceDeclaration)
      if (body instanceof Refusal) return body
      if (!engine.catalog.models.has(body.model)) {
        return refuse('invalid_request', `there is no model '${body.model}'`, { param: 'model' })
      }
      if (engine.declared.file.prices.some(({ model }) => model === body.model)) {
        const message = `the price of '${body.model}' is declared in the configuration file, which wins`
        return refuse('conflict', `${message}; change it there`, { param: 'model' })
      }
      const startMs = body.effective_from === undefined ? x.atMs : Date.parse(body.effective_from)
      const price: Price = {
        id: newShortId('price', x.atMs),
        model: body.model,
        terms: termsFrom(body),
        // A version that started in the past would reprice calls that are already charged.
        effectiveFromMs: Math.max(startMs, x.atMs),
        source: 'api',
      }
      await store.tx(async (tx) => {
        await insertPrice(tx, price, x.atMs)
        const after = { ...body, effective_from: time(price.effectiveFromMs) }
        await noteChange(tx, x.atMs, { action: 'price.create', subject: price.id, after })
      })
      await announce(engine)
      return priceView(engine, price)
    }, 201),
  )
}

const declarationView = (model: Model) => ({
  name: model.name,
  kind: model.kind,
  interfaces: model.interfaces,
  protocols: model.protocols,
  display_name: model.displayName,
  max_output_tokens: model.maxOutputTokens ?? null,
  source: model.source,
})

const modelView = (engine: Engine, model: Model) => ({
  ...declarationView(model),
  callable: engine.catalog.offers(model.name),
  price_id: engine.prices.current(model.name)?.id ?? null,
})

const rates = (tier: TokenRates) => ({
  input: formatNanos(tier.inputNanos),
  output: formatNanos(tier.outputNanos),
  ...(tier.cacheReadNanos !== undefined && { cache_read: formatNanos(tier.cacheReadNanos) }),
  ...(tier.cacheWriteNanos !== undefined && { cache_write: formatNanos(tier.cacheWriteNanos) }),
})

/** In the words of a price declaration, so that what is shown can be declared again. */
function termsView({ terms }: Price): object {
  switch (terms.unit) {
    case 'token': {
      const [only] = terms.tiers
      if (terms.tiers.length === 1 && only?.upTo === undefined) return { per_million: rates(only!) }
      return {
        tiers: terms.tiers.map((tier) => ({
          ...(tier.upTo !== undefined && { up_to: tier.upTo }),
          per_million: rates(tier),
        })),
      }
    }
    case 'image':
      return { per_image: formatNanos(terms.perImageNanos) }
    case 'video_second': {
      const tiers = Object.entries(terms.perSecondNanos)
      return { per_second: Object.fromEntries(tiers.map(([t, nanos]) => [t, formatNanos(nanos)])) }
    }
    case 'video_token':
      return { per_million: formatNanos(terms.perMillionNanos) }
  }
}

export const priceView = (engine: Engine, price: Price) => ({
  id: price.id,
  model: price.model,
  unit: price.terms.unit,
  ...termsView(price),
  effective_from: time(price.effectiveFromMs),
  current: engine.prices.current(price.model)?.id === price.id,
  source: price.source,
})
