// Refusals for names that do not exist for this caller, worded in one place.
import { type Refusal, refuse } from './errors.ts'

export const modelNotFound = (name: string): Refusal =>
  refuse('model_not_found', `model '${name}' does not exist or is not visible to this token`, {
    param: 'model',
  })

/** It is there and this token may use it, but nothing says what it costs. */
export const modelUnpriced = (name: string): Refusal =>
  refuse('model_not_found', `model '${name}' has no price, so it cannot be called yet`, {
    param: 'model',
  })

/** An object of an upstream account: the same whether it exists there or not. */
export const unknownObject = (param: string): Refusal =>
  refuse('not_found', `'${param}' names nothing that this gateway has given to this account`, {
    param,
  })

/** An object that no upstream of the model keeps: clients that are told so send it themselves. */
export const notKept = (param: string): Refusal =>
  refuse(
    'not_found',
    `'${param}' names something that is not kept for this model; send the items themselves, with 'store': false`,
    { param },
  )
