// Seals of other upstreams in a chat request: beside the reasoning, and beside calls.
import type { Json } from '../common/conversation.ts'
import { type IsForeign, mapObjects } from '../common/envelope.ts'
import { signatureOf } from './call-seal.ts'

export const stripSeals = (request: Json, isForeign: IsForeign): Json =>
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
