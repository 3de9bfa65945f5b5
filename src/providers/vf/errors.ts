// Maps the upstream's error codes to the error table. Codes form families, with details after a
// dot.
import type { UpstreamError } from '../../contract/provider.ts'
import { failure, readError, upstreamRequestId } from '../common/errors.ts'
import { badKey, badModel, busy, type Meaning, noReason, notWhatWasAsked } from '../tasks/errors.ts'
import { textOf } from '../tasks/fields.ts'
import { isGood, type Json, type Reply } from '../tasks/read-reply.ts'

const content: Meaning = { code: 'content_policy_violation' }
const invalid: Meaning = { code: 'upstream_invalid_request' }

/** The first match counts. */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/^DataInspection|^IPInfringement/i, content],
  [/^Throttling|^LimitRequests/i, busy],
  [/^ModelNotFound|Unpurchased|^Model\.AccessDenied|NotPurchased/i, badModel],
  [/^Arrearage|BillOverdue|AccessDenied|^InvalidApiKey/i, badKey],
  [/^Invalid(?:Parameter|URL|File)/i, invalid],
]
/** Comes with a code that is otherwise about the request. */
const noSuchModel = /^model\b.{0,80}\bnot exist/i

export const requestIdOf = ({ answer, body }: Reply): string | undefined =>
  upstreamRequestId(answer) ?? (textOf(body?.['request_id']) || undefined)

function meaningOf(code: string, message: string): Meaning | undefined {
  const meaning = meanings.find(([pattern]) => pattern.test(code))?.[1]
  return meaning === invalid && noSuchModel.test(message) ? badModel : meaning
}

/** The problem of a reply that is a refusal, or not what was requested. */
export function errorOf(reply: Reply): UpstreamError {
  const { answer } = reply
  if (isGood(answer.status) && textOf(reply.body?.['code']) === '') {
    return notWhatWasAsked(reply, 'a task', requestIdOf(reply))
  }
  const read = readError(answer, reply.text)
  const meaning = meaningOf(textOf(reply.body?.['code']), read.message)
  if (meaning === undefined) return read
  const { about: _, ...rest } = read
  // The message of a refused account may say that only one model is denied.
  const about = read.about === 'model' && meaning === badKey ? 'model' : meaning.about
  return { ...rest, code: meaning.code, ...(about !== undefined && { about }) }
}

/** The upstream's error of a failed task. */
export function failureOf(output: Json, requestId: string | undefined): UpstreamError {
  const message = textOf(output['message'])
  const meaning = meaningOf(textOf(output['code']), message)
  return {
    ...failure('upstream_error', message || noReason, requestId),
    ...meaning,
  }
}
