// Chat answers whose form breaks clients: what is missing is put in, and each tool call gets an index of
// its own. What has the right form stays the same object.
import { eachObject } from '../../lib/json/each-object.ts'
import { isObject } from '../../lib/json/parse.ts'
import { SeenCalls } from '../text/seen-calls.ts'
import type { Json, StreamState } from '../text/style.ts'

type Calls = Pick<StreamState, 'calls'>

export function repairChunk(chunk: Json, state: Calls): Json {
  if (chunk['choices'] === undefined && !isChunk(chunk)) return chunk
  const choices = eachObject(chunk['choices'], (choice, place) => {
    const index = indexOf(choice, place)
    const sent = choice['delta']
    const delta = isObject(sent) ? withCalls(sent, index, state) : {}
    return index === choice['index'] && delta === sent ? choice : { ...choice, index, delta }
  })
  return choices === chunk['choices'] ? chunk : { ...chunk, choices }
}

/** Events of other kinds have no choices, and pass as they are. */
const isChunk = ({ object, type }: Json): boolean =>
  type === undefined && (object === undefined || object === 'chat.completion.chunk')

/** The same for a whole answer. */
export function repairAnswer(answer: Json): Json {
  if (!Array.isArray(answer['choices'])) return answer
  const choices = eachObject(answer['choices'], repairChoice)
  return choices === answer['choices'] ? answer : { ...answer, choices }
}

function repairChoice(choice: Json, place: number): Json {
  const index = indexOf(choice, place)
  const sent = choice['message']
  const message = isObject(sent) ? withWholeCalls(sent) : { role: 'assistant', content: null }
  return index === choice['index'] && message === sent ? choice : { ...choice, index, message }
}

const isIndex = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

const indexOf = ({ index }: Json, place: number): number => (isIndex(index) ? index : place)

function withWholeCalls(message: Json): Json {
  const { tool_calls: sent } = message
  if (sent == null) return message
  const calls = eachObject(sent, (call) => call)
  return calls === sent ? message : { ...message, tool_calls: calls }
}

function withCalls(delta: Json, choice: number, state: Calls): Json {
  const { tool_calls: sent } = delta
  if (sent == null) return delta
  state.calls ??= new Map()
  const known = state.calls.get(choice) ?? new SeenCalls()
  state.calls.set(choice, known)
  const calls = eachObject(sent, (call) => repairCall(call, known))
  return calls === sent ? delta : { ...delta, tool_calls: calls }
}

/** Clients fail at a call without a type, and write an object as `[object Object]`. */
function repairCall(call: Json, calls: SeenCalls): Json {
  const { index, isNew } = ownIndex(call, calls)
  const { type, function: made } = call
  const changed: Record<string, unknown> = {}
  if (index !== call['index']) changed['index'] = index
  if (isNew && !isObject(call['custom'])) {
    if (typeof type !== 'string' || type === '') changed['type'] = 'function'
    if (!isObject(made)) changed['function'] = { name: '', arguments: '' }
  }
  if (isObject(made) && isObject(made['arguments'])) {
    changed['function'] = { ...made, arguments: JSON.stringify(made['arguments']) }
  }
  return Object.keys(changed).length === 0 ? call : { ...call, ...changed }
}

/** By index; without one, an id begins a call, and a part without an id continues the last. */
function ownIndex(call: Json, calls: SeenCalls): { index: unknown; isNew: boolean } {
  const made = call['function'] ?? call['custom']
  const index = call['index'] ?? undefined
  const id = typeof call['id'] === 'string' ? call['id'] : ''
  const hasName = isObject(made) && typeof made['name'] === 'string' && made['name'] !== ''
  const known = calls.find(index, id)
  // Some upstreams give all their calls the same index.
  const isOther = known !== undefined && id !== '' && known.id !== '' && id !== known.id
  if (known !== undefined && !(isOther && hasName)) {
    if (known.id === '' && id !== '') calls.name(known, id)
    return { index: known.own, isNew: false }
  }
  if (calls.isFull) return { index: call['index'], isNew: false }
  // Clients keep the calls in a list, which must have no gaps.
  return { index: calls.add(index, id), isNew: true }
}
