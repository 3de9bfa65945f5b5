// The field by which most surfaces name a model, as documents describe it.
import { text } from '../../http/schema.ts'
import { maxModelName } from './fields.ts'

export const modelField = text('Name of a model that this token may use; see `GET /v1/models`.', {
  minLength: 1,
  maxLength: maxModelName,
})
