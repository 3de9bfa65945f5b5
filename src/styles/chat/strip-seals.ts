// Seals of other upstreams in a chat request: beside the reasoning, and beside calls.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'
import { type IsForeign, mapObjects } from '../common/envelope.ts'
import { signatureOf } from './call-seal.ts'

/** Nearly all requests have none of the fields that hold them. */
export const stripSeals = (request: Json, isForeign: IsForeign): Json =>
  mayHaveSeals(request['messages']) ? stripped(request, isForeign) : request

function mayHaveSeals(messages: unknown): boolean {
  if (!Array.isArray(messages)) return false
  for (const each of messages) {
    if (isObject(each) && ('reasoning_details' in each || 'tool_calls' in each)) return true
  }
  return false
}

const stripped = (request: Json, isForeign: IsForeign): Json =>
  mapObjects(request, 'messages', (message) => {
    const plain = mapObjects(message, 'reasoning_details', (detail) =>
      isForeign(detail['data']) ? undefined : detail,
    )
    return mapObjects(plain, 'tool_calls', (call) => {
      const signature = signatureOf(call)
      if (signature === undefined || !isForeign(signature)) return call
      const { extra_content: _, ...rest } = call
      return rest
    })
  })
