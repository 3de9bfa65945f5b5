// Large requests and answers of calls that are no conversation are written and read in the thread that does so for
// the text styles. What comes back is what there is without it.
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { HttpAnswer } from '../../contract/http.ts'
import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { present } from '../../styles/common/request-reading.ts'
import { readHeaders } from '../common/errors.ts'
import { unread } from '../text/large/long-answers.ts'
import type { CallNotes, CallPlan, CallResult } from '../text/large/thread-work.ts'
import { translationThread } from '../text/large/translation-thread.ts'
import type { CallStyle } from './style.ts'
import type { WholeAnswer } from './whole-answer.ts'

/** As it goes to the caller. */
export type LongAnswer =
  | Exclude<WholeAnswer, { body: string }>
  | (Omit<Extract<WholeAnswer, { kind: 'body' }>, 'body'> & { body: Uint8Array<ArrayBuffer> })
  | { kind: 'events'; body: Uint8Array<ArrayBuffer> }

/** The bytes are gone for the caller. */
export async function readLongAnswer(
  { protocol }: CallStyle,
  { model, stream, body, fields }: TextCall,
  { queueKey = '' }: Upstream,
  answer: HttpAnswer,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<LongAnswer> {
  const headers: Record<string, string> = {}
  for (const name of readHeaders) Object.assign(headers, present({ [name]: answer.header(name) }))
  const format = fields['response_format']
  const notes: CallNotes = { protocol, model, stream, format, status: answer.status, headers }
  try {
    const message = { callAnswer: bytes, callNotes: JSON.stringify(notes), request: body }
    const result = await translationThread.run(queueKey, message, [bytes.buffer])
    const { rest, body: shown } = result as CallResult
    const made = JSON.parse(rest) as LongAnswer
    return shown === undefined ? made : ({ ...made, body: shown } as LongAnswer)
  } catch (cause) {
    return { kind: 'failed', error: unread(headers['x-request-id'], cause) }
  }
}

/** The caller's JSON as it goes upstream. */
export async function writeLongRequest(
  { protocol }: CallStyle,
  { body }: TextCall,
  { model, bodyEdits, queueKey = '' }: Upstream,
): Promise<Uint8Array | Refusal> {
  const plan: CallPlan = { protocol, model, ...present({ bodyEdits }) }
  try {
    const message = { callPlan: JSON.stringify(plan), request: body }
    return (await translationThread.run(queueKey, message)) as Uint8Array
  } catch (cause) {
    const why = 'the request could not be written for its upstream; try again'
    return refuse('overloaded', why, { cause, retryAfterSeconds: 1 })
  }
}
