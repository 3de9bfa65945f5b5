// The catalog of models: what there is, and whether and why not it can be called.
import { z } from 'zod'
import type { Model } from '../../contract/catalog.ts'
import { modelDeclaration, modelFrom } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Offers } from '../../engine/base-deps.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import { findModel, upsertModel } from '../../store/catalog/models.ts'
import { auditChange, listOf, pageOfList } from '../answers.ts'
import { forAll, forOperators } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { readBody } from '../serve.ts'
import { modelList, modelQuery, model as modelSchema } from './model-schema.ts'

/** The path has the name. */
const declarationFor = (name: string) =>
  z
    .looseObject({})
    .transform((body) => ({ ...body, name }))
    .pipe(modelDeclaration)

const modelBody = z
  .strictObject({ ...modelDeclaration.shape, name: z.unknown().optional() })
  .meta({ id: 'ModelDeclaration', ...modelDeclaration.meta() })

async function putModel({ engine, deps, id, x }: Ask) {
  const body = await readBody(x, deps.limits, declarationFor(id))
  if (body instanceof Refusal) return body
  const shown = engine.catalog.models.get(body.name)
  if (shown?.source === 'file') {
    return refuse('conflict', `model '${body.name}' is declared in the configuration file`)
  }
  const after = modelFrom(body, 'api')
  await engine.store.tx(async (tx) => {
    const before = (await findModel(tx, body.name)) ?? shown
    await upsertModel(tx, after, x.atMs)
    await auditChange(tx, x, {
      action: 'model.put',
      subject: body.name,
      ...(before !== undefined && { before: declarationView(before) }),
      after: declarationView(after),
    })
  })
  await announce(engine)
  return modelView(engine, engine.catalog.models.get(body.name)!)
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
  translate: model.translate ?? true,
  retention: model.retention ?? null,
  training: model.training ?? null,
  source: model.source,
})

function modelView(engine: Offers, model: Model): View<typeof modelSchema> {
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
    unavailable_reason: reasons.length === 0 ? null : reasons.join(', and '),
    price_id: price?.id ?? null,
    // Without a general price, only these accounts can call it.
    own_prices: owners,
  }
}

const route = routesOf({
  tag: 'Models and prices',
  thing: 'model',
  param: 'Name of the model.',
  permission: forAll,
})

export const modelRoutes = [
  route('GET /models', {
    id: 'listCatalog',
    summary: 'List the catalog, by name',
    query: modelQuery,
    answer: modelList,
    handle({ engine, page }) {
      const found = pageOfList(engine.catalog.models.values(), ({ name }) => name, page)
      return listOf(found, (each) => modelView(engine, each))
    },
  }),
  route('PUT /models/:id', {
    id: 'putModel',
    permission: forOperators,
    summary: 'Add a model to the catalog, or replace one',
    request: {
      'application/json': {
        schema: modelBody,
        examples: { text: { kind: 'text', interfaces: ['chat'], display_name: 'House Writer' } },
      },
    },
    answer: modelSchema,
    refusals: ['conflict'],
    handle: putModel,
  }),
]
