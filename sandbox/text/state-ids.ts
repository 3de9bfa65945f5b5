// Ids of what an upstream keeps for its account: files, conversations, stored prompts, containers. The
// sandbox keeps none of them, so every such id is unknown here.
import { asList, asObject, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import type { Turn } from './turns.ts'

const toolFields = ['vector_store_ids', 'container']

export function unknownState(
  fields: Json,
  names: readonly string[],
  turns: readonly Turn[],
): Fault | undefined {
  for (const name of names) {
    const id = idIn(fields[name])
    if (id !== undefined) return unknown(name, id)
  }
  for (const tool of asList(fields['tools'])) {
    for (const name of toolFields) {
      const id = idIn(asObject(tool)[name])
      if (id !== undefined) return unknown(name, id)
    }
  }
  for (const part of turns.flatMap(({ parts }) => parts)) {
    if (part.kind === 'media' && part.fileId !== undefined) return unknown('file_id', part.fileId)
  }
  return undefined
}

/** A text, an object with an id, or a list of texts. */
function idIn(value: unknown): string | undefined {
  const id = Array.isArray(value) ? value[0] : (asObject(value)['id'] ?? value)
  return typeof id === 'string' ? id : undefined
}

const unknown = (param: string, id: string): Fault => ({
  status: 404,
  message: `'${param}': '${id}' was not found.`,
  param,
})
