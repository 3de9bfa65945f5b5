// Errors for a successful answer with unexpected content.
import type { UpstreamError } from '../../contract/provider.ts'
import { failure } from '../common/errors.ts'
import type { Reply } from './read-reply.ts'

export type Meaning = Pick<UpstreamError, 'code' | 'about'>

export const badKey: Meaning = { code: 'upstream_permission_denied', about: 'key' }
export const badModel: Meaning = { code: 'upstream_permission_denied', about: 'model' }
export const busy: Meaning = { code: 'upstream_rate_limited', about: 'key' }

/** For a task that failed without a message. */
export const noReason = 'the upstream failed without a reason'

export function notWhatWasAsked(
  { problem }: Reply,
  noun: string,
  requestId: string | undefined,
): UpstreamError {
  const message = `the upstream answered with something that is not ${noun}`
  const { code, ...why } = problem ?? { code: 'upstream_invalid_response', message }
  return failure(code, why.message, requestId, why.cause)
}
