// Reads a whole response of an upstream.
import type { Emit } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import type { ReadContext } from '../common/style.ts'
import { ResponsesReader } from './read-stream.ts'

const ends = ['completed', 'incomplete', 'failed']

/** A response that is not at its end, or an error, ends as a failure. */
export function readAnswer(answer: Json, context: ReadContext, emit: Emit): void {
  const reader = new ResponsesReader(context)
  const { status, error } = answer
  const type = typeof status === 'string' && ends.includes(status) ? status : undefined
  if (error != null) reader.read({ type: 'error', error }, undefined, emit)
  else if (type !== undefined) {
    reader.read({ type: `response.${type}`, response: answer }, undefined, emit)
  }
  reader.end(emit)
}
