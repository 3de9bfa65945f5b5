// Maps the upstream's error codes to the error table. Codes form families, with details after a
// dot.
import type { UpstreamError } from '../../contract/provider.ts'
import { failure, readError, upstreamRequestId } from '../common/errors.ts'
import { badKey, badModel, busy, type Meaning, noReason, notWhatWasAsked } from '../tasks/errors.ts'
import { textOf } from '../tasks/fields.ts'
import { isGood, type Json, type Reply } from '../tasks/listen.ts'

const content: Meaning = { code: 'content_policy_violation' }
const invalid: Meaning = { code: 'upstream_invalid_request' }

/** The first that fits. */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/^DataInspection|^IPInfringement/i, content],
  [/^Throttling|^LimitRequests/i, busy],
  [/^ModelNotFound|Unpurchased|^Model\.AccessDenied|NotPurchased/i, badModel],
  [/^Arrearage|BillOverdue|AccessDenied|^InvalidApiKey/i, badKey],
  [/^Invalid(?:Parameter|URL|File)/i, invalid],
]
/** Said with a code that is otherwise about the request. */
const noSuchModel = /^model\b.{0,80}\bnot exist/i

export const requestIdOf = ({ answer, body }: Reply): string | undefined =>
  upstreamRequestId(answer) ?? (textOf(body?.['request_id']) || undefined)

function meaningOf(code: string, message: string): Meaning | undefined {
  const meaning = meanings.find(([pattern]) => pattern.test(code))?.[1]
  return meaning === invalid && noSuchModel.test(message) ? badModel : meaning
}

/** What is wrong with an answer that is a refusal, or not what was asked for. */
export function errorOf(reply: Reply): UpstreamError {
  const { answer } = reply
  if (isGood(answer.status) && textOf(reply.body?.['code']) === '') {
    return notWhatWasAsked(reply, 'a task', requestIdOf(reply))
  }
  const read = readError(answer, reply.text)
  const meaning = meaningOf(textOf(reply.body?.['code']), read.message)
  if (meaning === undefined) return read
  const { about: _, ...rest } = read
  // A refused account may be told in words that it is only one model it cannot have.
  const about = read.about === 'model' && meaning === badKey ? 'model' : meaning.about
  return { ...rest, code: meaning.code, ...(about !== undefined && { about }) }
}

/** What an upstream says of a task that failed. */
export function failureOf(output: Json, requestId: string | undefined): UpstreamError {
  const message = textOf(output['message'])
  const meaning = meaningOf(textOf(output['code']), message)
  return {
    ...failure('upstream_error', message || noReason, requestId),
    ...meaning,
  }
}
