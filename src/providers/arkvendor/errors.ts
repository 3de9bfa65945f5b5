// Maps the upstream's error codes to the error table. Its messages include a request id, which is
// of no use to a caller and is removed.
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure, readError, upstreamRequestId } from '../common/errors.ts'
import { badKey, badModel, busy, type Meaning, noReason, notWhatWasAsked } from '../tasks/errors.ts'
import { textOf } from '../tasks/fields.ts'
import { isGood, type Reply } from '../tasks/read-reply.ts'

/** The first match counts. */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/SensitiveContent|PolicyViolation|PrivacyInformation/i, { code: 'content_policy_violation' }],
  [/RateLimit|QuotaExceeded|SetLimitExceeded/i, busy],
  [/^ServerOverloaded/i, { code: 'upstream_rate_limited' }],
  [/ModelNotOpen|InvalidEndpoint|UnsupportedModel/i, badModel],
  [/^Authentication|^InvalidAccount|^AccountOverdue|AccessDenied|OperationDenied/i, badKey],
  [/^(?:Missing|Invalid)Parameter/i, { code: 'upstream_invalid_request' }],
]

const requestIdText = /[\s,;.]*\bRequest[ _]id:?\s*([\w-]{8,64})\.?/i

const errorIn = ({ body }: Reply) => (isObject(body?.['error']) ? body['error'] : undefined)

export const errorCode = (reply: Reply): string => textOf(errorIn(reply)?.['code'])

export const requestIdOf = (reply: Reply): string | undefined =>
  upstreamRequestId(reply.answer) ?? requestIdText.exec(textOf(errorIn(reply)?.['message']))?.[1]

const meaningOf = (code: string): Meaning | undefined =>
  meanings.find(([pattern]) => pattern.test(code))?.[1]

/** The problem of a reply that is a refusal, or not what was requested. */
export function errorOf(reply: Reply): UpstreamError {
  const { answer } = reply
  const requestId = requestIdOf(reply)
  if (isGood(answer.status) && errorIn(reply) === undefined) {
    return notWhatWasAsked(reply, 'a task', requestId)
  }
  const { about, ...read } = readError(answer, reply.text)
  const meaning = meaningOf(errorCode(reply)) ?? { code: read.code, ...(about && { about }) }
  return {
    ...read,
    ...meaning,
    message: withoutId(read.message),
    ...(requestId !== undefined && { upstreamRequestId: requestId }),
  }
}

const withoutId = (message: string): string => message.replace(requestIdText, '').trim() || message

/** The upstream's error of a failed task. */
export function failureOf(error: unknown, requestId: string | undefined): UpstreamError {
  const { code, message } = isObject(error) ? error : {}
  const text = withoutId(textOf(message)) || noReason
  return { ...failure('upstream_error', text, requestId), ...meaningOf(textOf(code)) }
}
