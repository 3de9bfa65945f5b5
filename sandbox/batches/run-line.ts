// A line of a batch, answered as its call would be.
import { directedFault } from '../http/directed-fault.ts'
import { readDirectives } from '../http/directives.ts'
import type { Json } from '../http/fields.ts'
import type { Answer, Call, Fault } from '../protocol.ts'

export type AnswerCall = (call: Call) => Answer

type LineAnswer = { body: Json } | { fault: Fault }

/** Lines take no time of their own, and a stream cannot be a result. */
export function answerLine(answer: AnswerCall, call: Call, fields: Json): LineAnswer {
  const directives = readDirectives(fields)
  const fault = directedFault(directives, call.key)
  if (fault !== undefined) return { fault }
  const answered = answer({ ...call, fields, directives })
  if (answered.kind === 'fault') return { fault: answered.fault }
  if (answered.kind !== 'whole') return { fault: { status: 400, message: 'Not in a batch.' } }
  return { body: JSON.parse(String(answered.body)) as Json }
}
