// Errors of long-running operations, and the ways their SDKs send a token.
import type { ErrorDialect, KeyPlace } from '../../http/dialect.ts'
import { errorFields } from '../../http/error-schemas.ts'
import { either, list, named, object, text, whole } from '../../http/schema.ts'
import { rpcStatusOf } from './rpc-status.ts'

const sdkHeader = 'x-goog-api-key'
const queryKey = 'key'

export const keyPlaces: readonly KeyPlace[] = [
  { id: 'vendorgKey', in: 'header', name: 'x-vendorg-api-key' },
  { id: 'googKey', in: 'header', name: sdkHeader },
  { id: 'queryKey', in: 'query', name: queryKey },
]

/** SDKs show a message only with a numeric code; other callers get the usual code. */
export const operationErrors: ErrorDialect = {
  render({ code, status, extras: { reason, retryAfterSeconds } }, _, request) {
    const isBusy = reason?.kind === 'overloaded'
    const word = {
      status: isBusy ? 'UNAVAILABLE' : rpcStatusOf(status),
      ...(status === 429 &&
        retryAfterSeconds !== undefined && { details: [wait(retryAfterSeconds)] }),
    }
    const bySdk = request?.headers.has(sdkHeader) || hasKey(request?.url ?? '')
    return { error: bySdk ? { ...word, code: status, reason: code } : word }
  },
  schema: named(
    'LongRunningError',
    object({
      error: object({
        ...errorFields,
        code: either(
          text('The code of the table of errors.'),
          whole(400, 599, 'The status, for callers that use `x-goog-api-key` or `?key=`.'),
        ),
        status: text('Such as `NOT_FOUND`.'),
        'details?': list(object({ '@type': text(), retryDelay: text('Such as `7s`.') })),
        'reason?': text('The code of the table, where `code` is a number.'),
      }),
    }),
  ),
}

/** As SDKs of this style look for it. */
const wait = (seconds: number) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay: `${seconds}s`,
})

const hasKey = (url: string): boolean => /[?&]key=/.test(url)
