// Messages whose form breaks clients: lists and objects that are missing, or null, are put in. What has the
// right form stays the same object.
import { eachObject } from '../../lib/json/each-object.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json, StreamState } from '../text/style.ts'

export function repairEvent(event: Json, { reported }: StreamState): Json {
  if (event['type'] === 'message_start' && isObject(event['message'])) {
    const message = repairBegun(event['message'])
    return message === event['message'] ? event : { ...event, message }
  }
  if (event['type'] !== 'message_delta') return event
  const { delta, usage } = event
  if (isObject(delta) && isObject(usage)) return event
  return {
    ...event,
    delta: isObject(delta) ? delta : { stop_reason: null, stop_sequence: null },
    usage: isObject(usage) ? usage : { output_tokens: outputOf(reported.raw) },
  }
}

function repairBegun(message: Json): Json {
  const content = eachObject(message['content'], (block) => block)
  const { usage } = message
  if (content === message['content'] && isObject(usage)) return message
  return {
    ...message,
    content,
    usage: isObject(usage) ? usage : { input_tokens: 0, output_tokens: 0 },
  }
}

const outputOf = (usage: unknown): unknown => (isObject(usage) && usage['output_tokens']) || 0

/** Some upstreams write null for an empty answer. */
export function repairAnswer(message: Json): Json {
  const { content, stop_reason: reason } = message
  if (!Array.isArray(content) && typeof reason !== 'string') return message
  const repaired = eachObject(content, (block) => block)
  return repaired === content ? message : { ...message, content: repaired }
}
