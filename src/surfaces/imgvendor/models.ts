// Which of the two paths serves which model. The catalog judges all other names, such as models that an
// operator has added.

import type { ModelKind } from '../../contract/catalog.ts'
import { modelNotFound, type Refusal, refuse } from '../../contract/errors.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { type Fields, wrong } from '../common/fields.ts'

export type Path = NonNullable<ImageRequest['native']>['path']

/** The only one that takes a subject or a face. */
export const referenceModel = 'imgvendor-v1-5'
export const elementModel = 'imgvendor-v3'
export const omniModel = 'imgvendor-v3-omni'
/** Accepted on either path; its upstream has it on one only. */
export const movedModel = 'imgvendor-image-o1'

const defaults: Readonly<Record<Path, string>> = {
  generations: 'imgvendor-v1',
  'omni-image': omniModel,
}

const plainModels: readonly string[] = [
  'imgvendor-v1',
  referenceModel,
  'imgvendor-v2',
  'imgvendor-v2-new',
  'imgvendor-v2-1',
  elementModel,
]

const maxModelName = 256

/** The requested model, as far as the body can be read. */
export const meantIn = (fields: Fields, path: Path): unknown =>
  fields['model_name'] ?? (fields['model'] === undefined ? defaults[path] : undefined)

/** The kind of a model, as far as the catalog knows it. */
export type KindOf = (model: string) => ModelKind | undefined

export function modelNameIn(fields: Fields, path: Path, kindOf: KindOf): string | Refusal {
  const given = fields['model_name'] ?? undefined
  if (given === undefined && fields['model'] !== undefined) {
    // Ignoring it would generate, and charge for, an image of another model.
    return wrong('model', "the model goes into 'model_name' here, not 'model'")
  }
  const name = given ?? defaults[path]
  if (typeof name !== 'string' || name === '') {
    return wrong('model_name', "'model_name' must be a non-empty string")
  }
  if (name.length > maxModelName) return modelNotFound(`${name.slice(0, 32)}…`)
  return misplaced(name, path, kindOf) ?? name
}

function misplaced(name: string, path: Path, kindOf: KindOf): Refusal | undefined {
  if (kindOf(name) === 'video') return notHere(`'${name}' makes videos, not images`)
  if (name === omniModel && path === 'generations') {
    return notHere(`'${name}' is to be had at /imgvendor/v1/images/omni-image only`)
  }
  if (plainModels.includes(name) && path === 'omni-image') {
    return notHere(`'${name}' is to be had at /imgvendor/v1/images/generations only`)
  }
  return undefined
}

const notHere = (message: string): Refusal =>
  refuse('model_not_supported', message, { param: 'model_name' })
