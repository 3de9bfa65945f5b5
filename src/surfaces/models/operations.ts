// The lists of models as documents describe them.
import { modelKinds } from '../../contract/catalog.ts'
import { answered, callerRefusals, inPath, type Operation } from '../../http/operation.ts'
import { flag, list, named, object, orNull, text, whole, word } from '../../http/schema.ts'

const model = named(
  'Model',
  object({
    id: text('What callers put into `model`.'),
    object: word(['model']),
    created: whole(0),
    owned_by: text(),
    type: word(['model']),
    display_name: text(),
    created_at: text(),
    modality: word(modelKinds),
    'max_input_tokens?': whole(1, undefined, 'Its context window.'),
    'max_tokens?': whole(1, undefined, 'Most tokens of one answer.'),
    supported_endpoint_types: list(text()),
  }),
)

const longRunningModel = named(
  'LongRunningModel',
  object({
    name: text('`models/{id}`'),
    baseModelId: text(),
    version: text(),
    displayName: text(),
    description: text(),
    'inputTokenLimit?': whole(1),
    'outputTokenLimit?': whole(1),
    supportedGenerationMethods: list(text()),
  }),
)

const models = named(
  'ModelList',
  object({
    object: word(['list']),
    data: list(model),
    models: list(longRunningModel),
    has_more: flag(),
    first_id: orNull(text()),
    last_id: orNull(text()),
  }),
)

const modelId = inPath('id', text('Name of a model.'))
export const versionInPath = inPath('version', text('Such as `v1beta`.'))

export const modelsOperations: readonly Operation[] = [
  {
    id: 'listModels',
    method: 'get',
    path: '/v1/models',
    tag: 'Models',
    summary: 'List the models this token sees',
    description: 'One body for the SDKs of all styles: some read `data`, some read `models`.',
    credential: 'token',
    answers: [answered(models, 'All of them at once.')],
    refusals: callerRefusals,
  },
  {
    id: 'getModel',
    method: 'get',
    path: '/v1/models/{id}',
    tag: 'Models',
    summary: 'Get a model',
    credential: 'token',
    parameters: [modelId],
    answers: [answered(model, 'The model.')],
    refusals: [...callerRefusals, 'model_not_found'],
  },
  {
    id: 'listLongRunningModels',
    method: 'get',
    path: '/vendorg/{version}/models',
    tag: 'Long-running videos',
    summary: 'List the models this token sees',
    credential: 'token',
    parameters: [versionInPath],
    answers: [answered(models, 'All of them at once.')],
    refusals: callerRefusals,
  },
  {
    id: 'getLongRunningModel',
    method: 'get',
    path: '/vendorg/{version}/models/{id}',
    tag: 'Long-running videos',
    summary: 'Get a model',
    credential: 'token',
    parameters: [versionInPath, modelId],
    answers: [answered(longRunningModel, 'The model.')],
    refusals: [...callerRefusals, 'model_not_found'],
  },
]
