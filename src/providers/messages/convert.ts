// Converts a message to a stream and back, for upstreams that mix up the two.
import { isObject } from '../../lib/json/parse.ts'
import { mergeUsage } from '../../styles/common/answer-usage.ts'
import type { Json } from '../text/style.ts'

export function fromAnswer(answer: Json): string[] {
  const { content, stop_reason, stop_sequence, usage, ...rest } = answer
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const begun = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage }
  const events: Json[] = [
    { type: 'message_start', message: begun },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      ...deltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? 'end_turn', stop_sequence: stop_sequence ?? null },
      ...(usage !== undefined && { usage }),
    },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`)
}

function emptied(block: Json): Json {
  if (block['type'] === 'text') return { ...block, text: '' }
  if (block['type'] === 'thinking') {
    return { ...block, thinking: '', ...('signature' in block && { signature: '' }) }
  }
  return block['type'] === 'tool_use' ? { ...block, input: {} } : block
}

function deltas({ type, text, thinking, signature, input }: Json): Json[] {
  if (type === 'text') return [{ type: 'text_delta', text }]
  if (type === 'tool_use') {
    return [{ type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }]
  }
  if (type !== 'thinking') return []
  const signed = signature === undefined ? [] : [{ type: 'signature_delta', signature }]
  return [{ type: 'thinking_delta', thinking }, ...signed]
}

/** Undefined when the message has no stop reason, or a tool's input is not JSON. */
export function toAnswer(events: readonly Json[]): Json | undefined {
  const failed = events.find(
    ({ type, error }) => type === 'error' || (type === undefined && isObject(error)),
  )
  if (failed !== undefined) return { error: failed['error'] ?? failed }
  const start = events.find(({ type }) => type === 'message_start')?.['message']
  if (!isObject(start)) return undefined
  const content = blocksOf(events)
  let ending: Json | undefined
  let usage: unknown = start['usage']
  for (const { type, delta, usage: news } of events) {
    if (type !== 'message_delta') continue
    usage = mergeUsage(usage, news)
    if (isObject(delta) && delta['stop_reason'] != null) ending = delta
  }
  if (ending === undefined || content === undefined) return undefined
  return { ...start, content, ...ending, ...(usage !== undefined && { usage }) }
}

function blocksOf(events: readonly Json[]): Json[] | undefined {
  const blocks = new Map<unknown, Record<string, unknown>>()
  for (const { type, index, content_block: begun, delta } of events) {
    if (type === 'content_block_start' && isObject(begun)) blocks.set(index, { ...begun })
    const block = blocks.get(index)
    if (type === 'content_block_delta' && block !== undefined) grow(block, delta)
  }
  const closed = [...blocks.values()].map(close)
  return closed.every((block) => block !== undefined) ? closed : undefined
}

const grownFields = ['text', 'thinking', 'signature', 'partial_json'] as const

function grow(block: Record<string, unknown>, delta: unknown): void {
  if (!isObject(delta)) return
  for (const name of grownFields) {
    const piece = delta[name]
    if (typeof piece === 'string') block[name] = `${block[name] ?? ''}${piece}`
  }
  if (!isObject(delta['citation'])) return
  const { citations } = block
  block['citations'] = [...(Array.isArray(citations) ? citations : []), delta['citation']]
}

/** The pieces of a tool's input form JSON once complete, unless it was cut short. */
function close({ partial_json: given, ...block }: Json): Json | undefined {
  if (typeof given !== 'string') return block
  try {
    return { ...block, input: given === '' ? {} : JSON.parse(given) }
  } catch {
    return undefined
  }
}
