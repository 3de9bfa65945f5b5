// An upstream failure as the caller may read it: the upstream's own message without secrets and
// addresses.
import type { Route } from '../../catalog/snapshot.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { takeRequestId } from '../../lib/redact/request-id.ts'
import type { Cleans } from '../base-deps.ts'

/** Longer upstream texts are cut before they are searched. */
const maxErrorText = 16_000

export function cleaned(
  { cleaner }: Cleans,
  error: UpstreamError,
  { body, model }: Pick<TextCall, 'body' | 'model'>,
  { upstreamModel }: Pick<Route, 'upstreamModel'>,
): UpstreamError {
  const { text, requestId } = takeRequestId(error.message.slice(0, maxErrorText))
  const id = error.upstreamRequestId ?? requestId
  const message = cleaner.clean(text, {
    keep: body,
    rename: upstreamModel === model ? [] : [[upstreamModel, model]],
  })
  return {
    ...error,
    message: message || 'the upstream failed',
    ...(id !== undefined && { upstreamRequestId: safeId(cleaner, id) }),
  }
}

const idShape = /^[\w.:@=+-]{1,200}$/
/** An address, or a name with a port: no id. */
const isPlace = /^(?:\d{1,3}\.){3}\d{1,3}|:\d{2,5}$|^localhost/i

/** The upstream chooses this id too, so it may hold anything. */
export const isId = (id: string): boolean => idShape.test(id) && !isPlace.test(id)

/** The same for callers: it is not a secret either. */
const safeId = (cleaner: Cleans['cleaner'], id: string): string =>
  isId(id) ? cleaner.cleanLine(id) : ''
