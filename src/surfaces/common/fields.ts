// Fields that all surfaces read of a request, each with the refusal a wrong one gets.

import { modelNotFound, type Refusal, refuse } from '../../contract/errors.ts'
import type { JsonBody } from '../../http/body/read-json.ts'

export type Fields = JsonBody['fields']

export const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', message, { param })

export const maxModelName = 256

export function modelIn({ model }: Fields): string | Refusal {
  if (typeof model !== 'string' || model === '') {
    return wrong('model', "'model' must be a non-empty string")
  }
  return model.length > maxModelName ? modelNotFound(`${model.slice(0, 32)}…`) : model
}

/** For the log: the name as the caller sent it, whether or not there is such a model. */
export function modelNamedIn({ model, model_name: name }: Fields): string {
  const named = model ?? name
  return typeof named === 'string' ? named.slice(0, maxModelName) : ''
}
