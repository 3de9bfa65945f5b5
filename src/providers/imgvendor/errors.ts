// Maps the upstream's error numbers to the error table. They take precedence over the status: some
// refusals come with status 200.
import type { UpstreamError } from '../../contract/provider.ts'
import { readError, upstreamRequestId } from '../common/errors.ts'
import { badKey, badModel, busy, type Meaning, notWhatWasAsked } from '../tasks/errors.ts'
import { textOf } from '../tasks/fields.ts'
import { isGood, type Json, type Reply } from '../tasks/read-reply.ts'

const invalid: Meaning = { code: 'upstream_invalid_request' }
const policy: Meaning = { code: 'content_policy_violation' }

const meanings: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  // The key, or its clock.
  ...all(badKey, 1000, 1001, 1002, 1003, 1004),
  // The account behind it: its debts and resource packs.
  ...all(badKey, 1100, 1101, 1102),
  // No permission, no such endpoint, no such model.
  ...all(badModel, 1103, 1202, 1203),
  ...all(invalid, 1200, 1201),
  ...all(policy, 1300, 1301),
  ...all(busy, 1302, 1303, 1304),
  ...all({ code: 'upstream_error' }, 5000, 5001),
  [5002, { code: 'upstream_timeout' }],
])
/** Internal errors at an unknown stage of the work. */
const unclear: readonly number[] = [5000, 5002]
const noSuchThing = 1203

function all(meaning: Meaning, ...codes: number[]): [number, Meaning][] {
  return codes.map((code) => [code, meaning])
}

/** Undefined when it has none. */
function codeOf(body: Json | undefined): number | undefined {
  const code = body?.['code']
  if (typeof code === 'string' && /^\d{1,6}$/.test(code)) return Number(code)
  return typeof code === 'number' ? code : undefined
}

export const isRefusal = (body: Json): boolean => (codeOf(body) ?? 0) !== 0

/** The outcome of a create by error number. An unknown number leaves it to the status. */
export function verdict({ answer, body }: Reply): 'refused' | 'unknown' | undefined {
  const code = codeOf(body) ?? 0
  if (code === 0) return undefined
  if (unclear.includes(code)) return 'unknown'
  if (meanings.has(code)) return 'refused'
  return isGood(answer.status) ? 'unknown' : undefined
}

export function isMissing({ answer, body }: Reply): boolean {
  const code = codeOf(body)
  return code === undefined ? answer.status === 404 : code === noSuchThing
}

export const requestIdOf = ({ answer, body }: Reply): string | undefined =>
  textOf(body?.['request_id']) || upstreamRequestId(answer)

/** The problem of a reply that is a refusal, or not what was requested. */
export function errorOf(reply: Reply): UpstreamError {
  const { answer, body } = reply
  const requestId = requestIdOf(reply)
  const code = codeOf(body) ?? 0
  if (isGood(answer.status) && code === 0) return notWhatWasAsked(reply, 'a task', requestId)
  const read = readError(answer, reply.text)
  const meaning = meanings.get(code)
  if (meaning === undefined) return read
  const { about: _, ...rest } = read
  const message = textOf(body?.['message']) || `the upstream refused with code ${code}`
  return { ...rest, ...meaning, message, ...(requestId && { upstreamRequestId: requestId }) }
}
