// Errors as documents tell of them: the body of all interfaces, and what each of them adds.
import { type RefusalCode, refusals } from '../contract/errors.ts'
import { either, named, object, open, orNull, type Schema, text, whole } from './schema.ts'

const types = [...new Set(Object.values(refusals).map(({ type }) => type))]

const fields: Readonly<Record<string, Schema>> = {
  message: text('What happened; ends with the request id in parentheses.'),
  type: { type: 'string', enum: types },
  code: text('The code of the table of errors.'),
  param: orNull(text('Which field is wrong.')),
  request_id: text('The same as in the headers.'),
  upstream_request_id: text("The upstream's own id; empty when there is none."),
}

const plain = named('Error', object({ error: object(fields) }))

const messagesTypes = [
  ...types,
  ...['not_found_error', 'request_too_large', 'billing_error', 'overloaded_error'],
]

const messages = named(
  'MessagesError',
  object({
    type: { const: 'error' },
    request_id: text(),
    error: object({ ...fields, type: { type: 'string', enum: messagesTypes } }),
  }),
)

const enveloped = named(
  'ImageTaskError',
  object({
    code: whole(1_000, 5_999, 'The whole number by which clients of image tasks know it.'),
    message: text('The same text.'),
    request_id: text(),
    error: object(fields),
  }),
)

const longRunning = named(
  'LongRunningError',
  object({
    error: object({
      ...fields,
      code: either(
        text('The code of the table of errors.'),
        whole(400, 599, 'The status, for whoever comes with `x-goog-api-key` or `?key=`.'),
      ),
      status: text('Such as `NOT_FOUND`.'),
      'reason?': text('The code of the table, where `code` is a number.'),
    }),
  }),
)

const dialects: readonly [prefix: string, schema: Schema][] = [
  ['/v1/messages', messages],
  ['/vendorg/', longRunning],
  ['/imgvendor/', enveloped],
]

/** The error of a path, with the codes that it can have there under one status. */
export function errorSchema(path: string, codes: readonly RefusalCode[]): Schema {
  const schema = dialects.find(([prefix]) => path.startsWith(prefix))?.[1] ?? plain
  const known: Schema = { type: 'string', enum: [...codes] }
  const code = schema === longRunning ? either(known, { type: 'integer' }) : known
  const narrowed = object({ error: object({ code }, open) }, open)
  return { allOf: [schema, narrowed] }
}
