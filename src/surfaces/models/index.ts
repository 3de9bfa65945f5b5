// The models a token may see, in one body that the SDKs of all styles can read: some look for
// `data`, some for `models`.
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Model, Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { modelNotFound } from '../../engine/admission/admit.ts'
import type { Engine } from '../../engine/engine.ts'
import { answerJson, type Exchange } from '../../http/exchange.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { callerOf, type Surface } from '../surface.ts'
import { itemOf, longRunningItemOf } from './item.ts'

export const models: Surface = {
  name: 'models',
  prefixes: ['/v1/models'],
  browsers: true,
  operations: async () => (await import('./operations.ts')).modelsOperations,
  mount(app, { engine }) {
    const list = (x: Exchange) => asCaller(engine, x, (token) => listBody(engine.catalog, token))
    app.get('/v1/models', ({ env }) => list(env.exchange))
    app.get('/vendorg/:version/models', ({ env }) => list(env.exchange))
    app.get('/v1/models/:id', ({ env, req }) =>
      asCaller(engine, env.exchange, (token) =>
        one(engine.catalog, token, req.param('id'), itemOf),
      ),
    )
    app.get('/vendorg/:version/models/:id', ({ env, req }) =>
      asCaller(engine, env.exchange, (token) =>
        one(engine.catalog, token, req.param('id'), longRunningItemOf),
      ),
    )
  },
}

function asCaller(
  engine: Engine,
  x: Exchange,
  answer: (token: Token) => object | Refusal,
): Response {
  const token = callerOf(engine, x)
  const body = token instanceof Refusal ? token : answer(token)
  return body instanceof Refusal ? answerRefusal(x, body) : answerJson(x, JSON.stringify(body))
}

/** All of them at once, so there is never another page. */
function listBody(catalog: Catalog, token: Token): object {
  const visible = catalog.listVisible(token)
  return {
    object: 'list',
    data: visible.map((model) => itemOf(catalog, model)),
    models: visible.map((model) => longRunningItemOf(catalog, model)),
    has_more: false,
    first_id: visible[0]?.name ?? null,
    last_id: visible.at(-1)?.name ?? null,
  }
}

function one(
  catalog: Catalog,
  token: Token,
  name: string,
  view: (catalog: Catalog, model: Model) => object,
): object | Refusal {
  const model = catalog.visible(token, name)
  return model === undefined ? modelNotFound(name) : view(catalog, model)
}
