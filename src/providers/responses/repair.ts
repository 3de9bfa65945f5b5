// Responses whose form breaks clients: lists that are missing, or null, are put in. What has the right form
// stays the same object.
import { eachObject } from '../../lib/json/each-object.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json, StreamState } from '../text/style.ts'

type Items = Pick<StreamState, 'items'>

/** The items that are kept for a last event without them. */
const maxItems = 256

export function repairEvent(event: Json, state: Items): Json {
  const { type, response, item } = event
  if (isObject(item)) {
    const repaired = repairItem(item)
    if (type === 'response.output_item.done') keep(repaired, event['output_index'], state)
    return repaired === item ? event : { ...event, item: repaired }
  }
  if (!isObject(response)) return event
  const isLast = type === 'response.completed' || type === 'response.incomplete'
  const repaired = withOutput(response, isLast ? (state.items ?? []) : [])
  return repaired === response ? event : { ...event, response: repaired }
}

/** Some upstreams write null for an empty answer. */
export const repairAnswer = (response: Json): Json =>
  response['object'] === 'response' || Array.isArray(response['output'])
    ? withOutput(response, [])
    : response

function withOutput(response: Json, otherwise: readonly Json[]): Json {
  const { output } = response
  const repaired = eachObject(Array.isArray(output) ? output : otherwise, repairItem)
  return repaired === output ? response : { ...response, output: repaired }
}

function repairItem(item: Json): Json {
  if (item['type'] !== 'message') return item
  const content = eachObject(item['content'], (part) => part)
  return content === item['content'] ? item : { ...item, content }
}

function keep(item: Json, index: unknown, state: Items): void {
  state.items ??= []
  const at = Number.isSafeInteger(index) ? Number(index) : state.items.length
  if (at >= 0 && at < maxItems) state.items[at] = item
}
