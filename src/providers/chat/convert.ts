// Converts a chat answer to a stream and back, for upstreams that mix up the two.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../text/style.ts'
import { repairChunk } from './repair.ts'

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`

/** One event per choice with its content, one with its finish reason, then usage and the marker. */
export function fromAnswer(answer: Json): string[] {
  const { choices, usage, ...rest } = answer
  const same = { ...rest, object: 'chat.completion.chunk' }
  const chunk = (index: unknown, delta: unknown, logprobs: unknown, finish_reason: unknown) =>
    event({ ...same, choices: [{ index, delta, logprobs, finish_reason }] })
  const list = Array.isArray(choices) ? choices.filter(isObject) : []
  return [
    ...list.flatMap(({ index, message, logprobs, finish_reason }) => [
      chunk(index, numberedTools(isObject(message) ? message : {}), logprobs ?? null, null),
      chunk(index, {}, null, finish_reason ?? 'stop'),
    ]),
    ...(isObject(usage) ? [event({ ...same, choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ]
}

/** In a stream, tool calls carry their index. */
function numberedTools(message: Json): Json {
  const calls = message['tool_calls']
  if (!Array.isArray(calls)) return message
  return { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) }
}

interface Gathered {
  message: Record<string, unknown>
  /** Its tool calls, by index. */
  tools: Map<unknown, Call>
  logprobs: Record<string, unknown> | null
  finish_reason: unknown
}

/** Undefined when a choice in it has no finish reason. */
export function toAnswer(events: readonly Json[]): Json | undefined {
  const first = events[0]
  if (first === undefined) return undefined
  const failed = events.find(({ error }) => isObject(error) || typeof error === 'string')
  if (failed !== undefined) return failed
  const choices = new Map<number, Gathered>()
  let usage: unknown
  const state = {}
  for (const data of events) {
    if (isObject(data['usage'])) usage = data['usage']
    const { choices: made } = repairChunk(data, state)
    if (Array.isArray(made)) for (const choice of made) gather(choices, choice)
  }
  const whole = [...choices].toSorted(([a], [b]) => a - b)
  if (whole.length === 0 || whole.some(([, { finish_reason }]) => finish_reason === null)) {
    return undefined
  }
  const { choices: _, usage: __, ...rest } = first
  return {
    ...rest,
    object: 'chat.completion',
    choices: whole.map(([index, { tools: _, ...choice }]) => ({ index, ...choice })),
    ...(usage !== undefined && { usage }),
  }
}

function gather(choices: Map<number, Gathered>, choice: Json): void {
  const index = typeof choice['index'] === 'number' ? choice['index'] : 0
  const known: Gathered = choices.get(index) ?? {
    message: { role: 'assistant', content: null },
    tools: new Map(),
    logprobs: null,
    finish_reason: null,
  }
  choices.set(index, known)
  known.finish_reason = choice['finish_reason'] ?? known.finish_reason
  known.logprobs = joined(known.logprobs, choice['logprobs'])
  const delta = isObject(choice['delta']) ? choice['delta'] : {}
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls') gatherTools(known, value)
    else if (name !== 'role' && typeof value === 'string') {
      known.message[name] = `${known.message[name] ?? ''}${value}`
    } else if (value !== null) known.message[name] ??= value
  }
}

/** Lists grow piece by piece: `{"content":[…],"refusal":null}`. */
function joined(known: Gathered['logprobs'], news: unknown): Gathered['logprobs'] {
  if (!isObject(news)) return known
  const both: Record<string, unknown> = { ...known }
  for (const [name, value] of Object.entries(news)) {
    const before = both[name]
    both[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
  }
  return both
}

type Call = Record<string, unknown>

function gatherTools({ message, tools }: Gathered, fragments: unknown): void {
  message['tool_calls'] ??= []
  const calls = message['tool_calls'] as Call[]
  for (const fragment of Array.isArray(fragments) ? fragments.filter(isObject) : []) {
    const { index, function: made, ...rest } = fragment
    const call = tools.get(index) ?? { function: { name: '', arguments: '' } }
    if (!tools.has(index)) calls.push(call)
    tools.set(index, call)
    const named = call['function'] as Record<string, string>
    const { name, arguments: given } = isObject(made) ? made : {}
    if (typeof name === 'string') named['name'] += name
    if (typeof given === 'string') named['arguments'] += given
    // Later pieces may carry an empty id.
    for (const [field, value] of Object.entries(rest)) {
      if (value !== null && value !== '') call[field] = value
    }
  }
}
