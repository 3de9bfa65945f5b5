// Errors of image tasks: their clients read only the number at the top of the body.
import type { ErrorDialect } from '../../http/dialect.ts'
import { errorFields } from '../../http/error-schemas.ts'
import { publicText } from '../../http/render-error.ts'
import { named, object, text, whole } from '../../http/schema.ts'
import { envelopeCodeOf } from './error-code.ts'

export const imageTaskErrors: ErrorDialect = {
  render: (refusal, requestId, request) => ({
    top: {
      code: envelopeCodeOf(refusal, request),
      message: publicText(refusal, requestId),
      request_id: requestId,
    },
  }),
  schema: named(
    'ImageTaskError',
    object({
      code: whole(1_000, 5_999, 'The whole number by which clients of image tasks know it.'),
      message: text('The same text.'),
      request_id: text(),
      error: object(errorFields),
    }),
  ),
}
