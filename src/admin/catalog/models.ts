// The catalog of models: what there is, and whether and why not it can be called.
import { z } from 'zod'
import { builtinModels } from '../../catalog/builtin.ts'
import { knownModel, namingProblem } from '../../catalog/virtual-models.ts'
import type { Model } from '../../contract/catalog.ts'
import {
  aliasShape,
  declaredMembers,
  modelDeclaration,
  modelFrom,
  modelShape,
  virtualShape,
} from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Offers } from '../../engine/base-deps.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import { deleteModel, findModel, upsertModel } from '../../store/catalog/models.ts'
import { auditChange, listOf, notFound, pageOfList } from '../answers.ts'
import { forAll, forOperators } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import { readBody } from '../serve.ts'
import { modelList, modelQuery, model as modelSchema } from './model-schema.ts'

/** The path has the name. */
const declarationFor = (name: string) =>
  z
    .looseObject({})
    .transform((body) => ({ ...body, name }))
    .pipe(modelDeclaration)

const unnamed = { name: z.unknown().optional() }

const modelBody = z
  .union([
    z.strictObject({ ...modelShape.shape, ...unnamed }).meta({ title: 'Plain model' }),
    z.strictObject({ ...virtualShape.shape, ...unnamed }).meta({ title: 'Virtual model' }),
    z.strictObject({ ...aliasShape.shape, ...unnamed }).meta({ title: 'Model alias' }),
  ])
  .meta({ id: 'ModelDeclaration', ...modelDeclaration.meta() })

async function putModel({ engine, deps, id, x }: Ask) {
  const body = await readBody(x, deps.limits, declarationFor(id))
  if (body instanceof Refusal) return body
  const shown = engine.catalog.models.get(body.name)
  if (shown?.source === 'file') {
    return refuse('conflict', `model '${body.name}' is declared in the configuration file`)
  }
  const after = modelFrom(body, 'api')
  const problem = problemIn(engine, after)
  if (problem !== undefined) return refuse('invalid_request', problem.message, problem)
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
  await announce(engine, noTokens)
  return modelView(engine, engine.catalog.models.get(body.name)!)
}

/** A name over models that do not exist, or that would no longer be models of their own. */
function problemIn(offers: Offers, after: Model): { message: string; param: string } | undefined {
  const find = (name: string) =>
    name === after.name ? after : knownModel(offers.catalog.models, name)
  const wrong = namingProblem(after, find)
  const param = after.alias === undefined ? 'virtual' : 'alias'
  if (wrong !== undefined) return { message: `'${after.name}' ${wrong}`, param }
  const message = problemOfOthers(offers, after.name, after)
  return message === undefined ? undefined : { message, param }
}

/** What would be wrong with a name over this one; it may have been wrong before. */
function problemOfOthers(
  { catalog: { models } }: Offers,
  name: string,
  after: Model | undefined,
): string | undefined {
  const before = (wanted: string) => knownModel(models, wanted)
  const find = (wanted: string) => (wanted === name ? after : before(wanted))
  for (const other of models.values()) {
    const wrong = other.name === name ? undefined : namingProblem(other, find)
    if (wrong === undefined || namingProblem(other, before) !== undefined) continue
    return `'${other.name}' then ${wrong}`
  }
  return undefined
}

/** Prices and what was charged stay; a built-in model of that name is there again. */
async function removeModel({ engine, id, x }: Ask) {
  const shown = engine.catalog.models.get(id)
  if (shown === undefined) return notFound('model', id)
  if (shown.source !== 'api') {
    const owner = shown.source === 'file' ? 'declared in the configuration file' : 'built in'
    return refuse('conflict', `model '${id}' is ${owner}`)
  }
  const builtin = builtinModels.find(({ name }) => name === id)
  const problem = problemOfOthers(engine, id, builtin)
  if (problem !== undefined) return refuse('conflict', problem)
  await engine.store.tx(async (tx) => {
    await deleteModel(tx, id)
    const before = declarationView(shown)
    await auditChange(tx, x, { action: 'model.delete', subject: id, before })
  })
  await announce(engine, noTokens)
  return { id, deleted: true as const }
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
  routing: model.routing ?? ('load' as const),
  retention: model.retention ?? null,
  training: model.training ?? null,
  virtual: model.virtual === undefined ? null : declaredMembers(model.virtual),
  price: model.virtual?.price ?? null,
  alias: model.alias ?? null,
  source: model.source,
})

function modelView(engine: Offers, model: Model): View<typeof modelSchema> {
  const { prices, catalog } = engine
  const price = prices.current(model.backing?.pricedAs ?? model.name)
  const owners = ownersOf(engine, model)
  const isPriced = catalog.isPriced(model) || owners.length > 0
  const reasons = [
    ...(isServed(engine, model) ? [] : ['no channel serves it']),
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

/** A pattern is served where what it stands for is. */
const isServed = ({ catalog }: Offers, { name, backing }: Model): boolean =>
  catalog.serves(name) ||
  (name.endsWith('*') && backing?.members.some(({ model }) => catalog.serves(model.name)) === true)

/** Accounts with a price of their own: for it, or for a model that serves it. */
function ownersOf({ prices }: Offers, { name, backing }: Model): string[] {
  if (backing === undefined || backing.pricedAs !== undefined) {
    return prices.ownersOf(backing?.pricedAs ?? name)
  }
  const all = backing.members.flatMap(({ model }) => prices.ownersOf(model.pricedAs ?? model.name))
  return [...new Set(all)].sort()
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
        examples: {
          virtual: { kind: 'text', virtual: ['txta-plus', 'txta-turbo'], price: 'served' },
          alias: { alias: 'txta-plus' },
          text: { kind: 'text', interfaces: ['chat'], display_name: 'House Writer' },
        },
      },
    },
    answer: modelSchema,
    refusals: ['conflict'],
    handle: putModel,
  }),
  route('DELETE /models/:id', {
    id: 'deleteModel',
    permission: forOperators,
    summary: 'Remove a model that this API added',
    answer: deleted,
    refusals: ['conflict', 'not_found'],
    handle: removeModel,
  }),
]
