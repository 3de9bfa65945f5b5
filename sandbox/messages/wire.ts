// The wire shapes of a messages answer: the message, its blocks, its usage, the stream's events.

import { namedEvent, type StreamEvent } from '../protocol.ts'
import type { Counted, Draft } from '../text/answer-text.ts'
import { type Choice, type FunctionCall, openingTokens } from '../text/plan-reply.ts'

/** Cached and written tokens are not in input_tokens. */
function usageOf({ inputTokens, cache }: Counted, outputTokens: number) {
  const { cachedTokens, createdTokens, createdForHourTokens } = cache
  return {
    input_tokens: inputTokens - cachedTokens - createdTokens,
    cache_creation_input_tokens: createdTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: createdTokens - createdForHourTokens,
      ephemeral_1h_input_tokens: createdForHourTokens,
    },
    output_tokens: outputTokens,
    service_tier: 'standard',
  }
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens', call: 'tool_use' } as const

/** A block as it opens, what fills it token by token, and as it is when it is full. */
interface Block {
  opened: object
  fill: Iterable<[delta: object, outputTokens: number]>
  full: object
  openingTokens: number
}

const choiceOf = ({ reply }: Draft): Choice => reply.choices[0]!

function blocksOf(draft: Draft): Block[] {
  const { reasoning, tokens, call } = choiceOf(draft)
  const blocks: Block[] = []
  if (reasoning.length > 0) blocks.push(thinkingBlock(reasoning, signatureOf(draft)))
  if (tokens.length > 0) blocks.push(textBlock(tokens))
  if (call !== undefined) blocks.push(toolBlock(call))
  return blocks
}

const signatureOf = ({ reply }: Draft): string => Buffer.from(reply.hash, 'hex').toString('base64')

const thinkingBlock = (tokens: readonly string[], signature: string): Block => ({
  opened: { type: 'thinking', thinking: '', signature: '' },
  fill: [
    ...tokens.map((thinking): [object, number] => [{ type: 'thinking_delta', thinking }, 1]),
    [{ type: 'signature_delta', signature }, 0],
  ],
  full: { type: 'thinking', thinking: tokens.join(''), signature },
  openingTokens: 0,
})

const textBlock = (tokens: readonly string[]): Block => ({
  opened: { type: 'text', text: '' },
  fill: tokens.map((text) => [{ type: 'text_delta', text }, 1]),
  full: { type: 'text', text: tokens.join('') },
  openingTokens: 0,
})

function toolBlock(call: FunctionCall): Block {
  const block = { type: 'tool_use', id: `toolu_${call.id}`, name: call.name }
  const filled = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
  return {
    opened: { ...block, input: {} },
    fill: [[filled(''), 0], ...call.tokens.map((json): [object, number] => [filled(json), 1])],
    full: { ...block, input: call.input },
    openingTokens: openingTokens(call),
  }
}

export function wholeMessage(draft: Draft): unknown {
  const { counted, reply } = draft
  return {
    ...headOf(draft),
    content: blocksOf(draft).map((block) => block.full),
    stop_reason: stopReasons[choiceOf(draft).finish],
    stop_sequence: null,
    usage: counted && usageOf(counted, reply.outputTokens),
  }
}

const headOf = ({ model, reply }: Draft) => ({
  id: `msg_${reply.hash.slice(0, 24)}`,
  type: 'message',
  role: 'assistant',
  model,
})

/** The input is counted at the start, the output at the end. */
export function* streamEvents(draft: Draft): Generator<StreamEvent> {
  const { counted, reply } = draft
  const empty = { content: [], stop_reason: null, stop_sequence: null }
  const usage = counted && usageOf(counted, 0)
  yield event('message_start', { message: { ...headOf(draft), ...empty, usage } })
  yield event('ping', {})
  for (const [index, block] of blocksOf(draft).entries()) {
    const opened = { index, content_block: block.opened }
    yield event('content_block_start', opened, block.openingTokens)
    for (const [delta, outputTokens] of block.fill) {
      yield event('content_block_delta', { index, delta }, outputTokens)
    }
    yield event('content_block_stop', { index })
  }
  yield event('message_delta', {
    delta: { stop_reason: stopReasons[choiceOf(draft).finish], stop_sequence: null },
    usage: counted && { output_tokens: reply.outputTokens },
  })
  yield event('message_stop', {})
}

const event = (type: string, fields: object, outputTokens = 0): StreamEvent =>
  namedEvent({ type, ...fields }, outputTokens)
