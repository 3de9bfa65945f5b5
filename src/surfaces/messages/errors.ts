// Errors of the messages style: its SDKs know some failures by words of their own.
import type { RefusalCode } from '../../contract/errors.ts'
import type { ErrorDialect } from '../../http/dialect.ts'
import { errorFields, errorTypes } from '../../http/error-schemas.ts'
import { list, named, object, text } from '../../http/schema.ts'

const types: Readonly<Partial<Record<RefusalCode, string>>> = {
  request_too_large: 'request_too_large',
  insufficient_quota: 'billing_error',
  budget_exhausted: 'billing_error',
  overloaded: 'overloaded_error',
  no_available_channel: 'overloaded_error',
}
const notFound = 'not_found_error'

/** Clients that get this send the whole conversation, and ask for no thread any more. */
const noThread = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/** By this status the style's SDKs tell overload from a failure. */
const overload = 529

export const messagesErrors: ErrorDialect = {
  statuses: { overloaded: overload, no_available_channel: overload },
  render({ code, status, extras: { param, reason } }, requestId) {
    const type =
      reason?.kind === 'overloaded'
        ? types.overloaded
        : (types[code] ?? (status === 404 ? notFound : undefined))
    return {
      top: { type: 'error', request_id: requestId },
      error: {
        ...(type !== undefined && { type }),
        ...(param === 'thread' && { details: noThread }),
      },
    }
  },
  schema: named(
    'MessagesError',
    object({
      type: { const: 'error' },
      request_id: text(),
      error: object({
        ...errorFields,
        type: {
          type: 'string',
          enum: [...errorTypes, ...new Set([notFound, ...Object.values(types)])],
        },
        'details?': object({ error_code: text(), unsupported: list(text()) }),
      }),
    }),
  ),
}
