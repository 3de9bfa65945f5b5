// The catalog of models: what there is, and whether and why not it can be called.
import { z } from 'zod'
import type { Model } from '../../contract/catalog.ts'
import { modelDeclaration, modelFrom } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import { findModel, upsertModel } from '../../store/catalog/models.ts'
import {
  listOf,
  pageOfList,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
} from '../legacy-route.ts'

export const models: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/models',
    route(({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const found = pageOfList(engine.catalog.models.values(), ({ name }) => name, page)
      return listOf(found, (model) => modelView(engine, model))
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
        await recordChange(tx, x, {
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
}

const declarationView = (model: Model) => ({
  name: model.name,
  kind: model.kind,
  interfaces: model.interfaces,
  protocols: model.protocols,
  display_name: model.displayName,
  context_window: model.contextWindow ?? null,
  max_output_tokens: model.maxOutputTokens ?? null,
  max_tokens_per_image: model.maxTokensPerImage ?? null,
  source: model.source,
})

function modelView(engine: Engine, model: Model) {
  const price = engine.prices.current(model.name)
  const owners = engine.prices.ownersOf(model.name)
  const isPriced = price !== undefined || owners.length > 0
  const reasons = [
    ...(engine.catalog.serves(model.name) ? [] : ['no channel serves it']),
    ...(isPriced ? [] : ['it has no price in force']),
  ]
  return {
    ...declarationView(model),
    callable: reasons.length === 0,
    not_callable_because: reasons.length === 0 ? null : reasons.join(', and '),
    price_id: price?.id ?? null,
    /** Accounts with a price of their own; without a price for everybody, only they can call it. */
    own_prices: owners,
  }
}
