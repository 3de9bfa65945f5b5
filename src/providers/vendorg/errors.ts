// Maps the upstream's refusals and failures to the error table. It uses a status word in answers,
// and a number inside an operation.
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure, readError, upstreamRequestId } from '../common/errors.ts'
import { badKey, badModel, busy, type Meaning, noReason, notWhatWasAsked } from '../tasks/errors.ts'
import { textOf } from '../tasks/fields.ts'
import { isGood, type Json, type Reply } from '../tasks/read-reply.ts'

/** Words that it uses for a content refusal. */
const policy = /usage guidelines|responsible ai|safety|sensitive words|prohibited|content policy/i
/** It reports an unknown key as an invalid argument. */
const keyWords = /api[_ ]key/i

const byStatusWord: ReadonlyMap<string, Meaning> = new Map([
  ['FAILED_PRECONDITION', badKey],
  ['UNAUTHENTICATED', badKey],
  ['PERMISSION_DENIED', badKey],
  ['NOT_FOUND', badModel],
  ['RESOURCE_EXHAUSTED', busy],
])

/** Failure numbers inside an operation; all others are the upstream's own errors. */
const byNumber: ReadonlyMap<unknown, UpstreamError['code']> = new Map<
  unknown,
  UpstreamError['code']
>([
  [3, 'upstream_invalid_request'],
  [4, 'upstream_timeout'],
  [7, 'upstream_permission_denied'],
  [8, 'upstream_rate_limited'],
  [9, 'upstream_invalid_request'],
  [11, 'upstream_invalid_request'],
  [16, 'upstream_permission_denied'],
])

export const requestIdOf = ({ answer }: Reply): string | undefined => upstreamRequestId(answer)

/** The problem of a reply that is a refusal, or not what was requested. */
export function errorOf(reply: Reply): UpstreamError {
  const { answer, body } = reply
  if (isGood(answer.status)) {
    return notWhatWasAsked(reply, 'an operation', requestIdOf(reply))
  }
  const read = readError(answer, reply.text)
  const inner = body?.['error']
  const meaning = isObject(inner) ? meaningOf(inner, read.message, answer.status) : undefined
  if (meaning === undefined) return read
  const { about: _, ...rest } = read
  return { ...rest, ...meaning }
}

function meaningOf(error: Json, message: string, status: number): Meaning | undefined {
  if (status >= 500) return undefined
  const word = textOf(error['status'])
  if (word === 'INVALID_ARGUMENT' || word === '') {
    if (keyWords.test(message)) return badKey
    return policy.test(message) ? { code: 'content_policy_violation' } : undefined
  }
  return byStatusWord.get(word)
}

/** The error of a failed operation. */
export function failureOf(error: Json, requestId: string | undefined): UpstreamError {
  const message = textOf(error['message'])
  const known = byNumber.get(error['code']) ?? 'upstream_error'
  const refused = known === 'upstream_invalid_request' && policy.test(message)
  return failure(refused ? 'content_policy_violation' : known, message || noReason, requestId)
}
