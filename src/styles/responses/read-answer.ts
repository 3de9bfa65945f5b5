// Reads a whole response of an upstream.
import type { Emit } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import type { ReadContext } from '../common/style.ts'
import { ResponsesReader } from './read-stream.ts'

const ends: readonly unknown[] = ['completed', 'incomplete', 'failed']

/** A response without a status is complete. */
export function readAnswer(answer: Json, context: ReadContext, emit: Emit): void {
  const reader = new ResponsesReader(context)
  const { error, output } = answer
  const status = answer['status'] ?? 'completed'
  const type = ends.includes(status) && Array.isArray(output) ? status : undefined
  if (error != null) reader.read({ type: 'error', error }, undefined, emit)
  else if (type !== undefined) {
    reader.read({ type: `response.${type}`, response: answer }, undefined, emit)
  }
  reader.end(emit)
}
