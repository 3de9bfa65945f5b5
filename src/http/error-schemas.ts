// Errors as documents describe them: the fields that all surfaces have, and the plain body.
import { refusals } from '../contract/errors.ts'
import type { Dialect } from './dialect.ts'
import { named, object, orNull, type Schema, text } from './schema.ts'

export const errorTypes = [...new Set(Object.values(refusals).map(({ type }) => type))]

export const errorFields: Readonly<Record<string, Schema>> = {
  message: text('What happened; ends with the request id in parentheses.'),
  type: { type: 'string', enum: errorTypes },
  code: text('The code of the table of errors.'),
  param: orNull(text('Which field is wrong.')),
  request_id: text('The same as in the headers.'),
  upstream_request_id: text("The upstream's own id; empty when there is none."),
}

const plain = named('Error', object({ error: object(errorFields) }))

/** The error of a path: one named schema for each dialect, which generators turn into one type. */
export const errorSchema = ({ errors }: Dialect): Schema => errors?.schema ?? plain
