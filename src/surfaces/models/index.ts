// The models a token may see, in one body that the SDKs of all styles can read.
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Interface, Model } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { modelNotFound } from '../../engine/admit.ts'
import { answerJson } from '../../http/exchange.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { callerOf, type Surface } from '../surface.ts'

/** Words by which desktop clients choose how to talk to a model. */
const endpointTypes: Readonly<Record<Interface, readonly string[]>> = {
  chat: ['openai'],
  responses: ['openai-response'],
  messages: ['anthropic'],
  embeddings: ['embeddings'],
  images: ['image-generation', 'image-edit'],
  videos: ['openai-video'],
  imgvendor: ['image-generation'],
  arkvendor: ['openai-video'],
  vendorg: ['openai-video'],
}

/** Models carry no date of their own; clients only need the fields to be there and steady. */
const created = 1_767_225_600
const createdAt = new Date(created * 1000).toISOString()

const view = (catalog: Catalog, model: Model) => ({
  id: model.name,
  object: 'model',
  created,
  owned_by: model.ownedBy,
  type: 'model',
  display_name: model.displayName,
  created_at: createdAt,
  modality: model.kind,
  supported_endpoint_types: [
    ...new Set(catalog.servedBy(model).flatMap((use) => endpointTypes[use])),
  ],
})

export const models: Surface = {
  name: 'models',
  mount(app, { engine }) {
    app.get('/v1/models', ({ env: { exchange: x } }) => {
      const token = callerOf(engine, x)
      if (token instanceof Refusal) return answerRefusal(x, token)
      const data = engine.catalog.listVisible(token).map((model) => view(engine.catalog, model))
      const page = {
        has_more: false,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
      }
      return answerJson(x, JSON.stringify({ object: 'list', data, ...page }))
    })
    app.get('/v1/models/:id', ({ env: { exchange: x }, req }) => {
      const token = callerOf(engine, x)
      if (token instanceof Refusal) return answerRefusal(x, token)
      const model = engine.catalog.visible(token, req.param('id'))
      if (model === undefined) return answerRefusal(x, modelNotFound(req.param('id')))
      return answerJson(x, JSON.stringify(view(engine.catalog, model)))
    })
  },
}
