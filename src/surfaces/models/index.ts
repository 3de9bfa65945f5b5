// The models a token may see, in one body that the SDKs of all styles can read: some look for
// `data`, some for `models`.

import type { CallerApi, CallerModels } from '../../contract/caller-api.ts'
import type { Model, Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { callerOf, type Surface } from '../common/surface.ts'
import { itemOf, longRunningItemOf } from './item.ts'

export const models: Surface = {
  name: 'models',
  prefixes: ['/v1/models'],
  browsers: true,
  operations: async () => (await import('./operations.ts')).modelsOperations,
  mount(app, { api }) {
    const list = (x: RequestContext) => asCaller(api, x, (token) => listBody(api.models, token))
    app.get('/v1/models', ({ env }) => list(env.context))
    app.get('/vendorg/:version/models', ({ env }) => list(env.context))
    app.get('/v1/models/:id', ({ env, req }) =>
      asCaller(api, env.context, (token) => one(api.models, token, req.param('id'), itemOf)),
    )
    app.get('/vendorg/:version/models/:id', ({ env, req }) =>
      asCaller(api, env.context, (token) =>
        one(api.models, token, req.param('id'), longRunningItemOf),
      ),
    )
  },
}

function asCaller(
  api: CallerApi,
  x: RequestContext,
  answer: (token: Token) => object | Refusal,
): Response {
  const token = callerOf(api, x)
  const body = token instanceof Refusal ? token : answer(token)
  return body instanceof Refusal ? answerRefusal(x, body) : answerJson(x, JSON.stringify(body))
}

/** All of them at once, so there is never another page. */
function listBody(models: CallerModels, token: Token): object {
  const visible = models.list(token)
  return {
    object: 'list',
    data: visible.map((model) => itemOf(models, token, model)),
    models: visible.map((model) => longRunningItemOf(models, token, model)),
    has_more: false,
    first_id: visible[0]?.name ?? null,
    last_id: visible.at(-1)?.name ?? null,
  }
}

function one(
  models: CallerModels,
  token: Token,
  name: string,
  view: (models: CallerModels, token: Token, model: Model) => object,
): object | Refusal {
  const model = models.visible(token, name)
  return model === undefined ? models.refusalOf(token, name) : view(models, token, model)
}
