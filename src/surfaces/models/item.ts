// One model as clients read it. Models carry no date of their own; clients only need the fields to
// be there and steady.
import type { CallerModels } from '../../contract/caller-api.ts'
import type { Model, Token } from '../../contract/catalog.ts'

const created = 1_767_225_600
const createdAt = new Date(created * 1000).toISOString()

export function itemOf(models: CallerModels, token: Token, model: Model): object {
  const types = models.servedBy(token, model).flatMap(({ clientWords }) => clientWords)
  return {
    id: model.name,
    object: 'model',
    created,
    owned_by: model.ownedBy,
    type: 'model',
    display_name: model.displayName,
    created_at: createdAt,
    modality: model.kind,
    ...(model.contextWindow !== undefined && { max_input_tokens: model.contextWindow }),
    ...(model.maxOutputTokens !== undefined && { max_tokens: model.maxOutputTokens }),
    supported_endpoint_types: [...new Set(types)],
  }
}

export function longRunningItemOf(models: CallerModels, token: Token, model: Model): object {
  return {
    name: `models/${model.name}`,
    baseModelId: model.name,
    version: '001',
    displayName: model.displayName,
    description: `${model.kind} model`,
    ...(model.contextWindow !== undefined && { inputTokenLimit: model.contextWindow }),
    ...(model.maxOutputTokens !== undefined && { outputTokenLimit: model.maxOutputTokens }),
    supportedGenerationMethods: models
      .servedBy(token, model)
      .flatMap(({ methods }) => methods?.[model.kind] ?? []),
  }
}
