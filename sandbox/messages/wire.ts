// The wire shapes of a messages answer: the message, its blocks, its usage, the stream's events.

import { asObject } from '../http/fields.ts'
import { namedEvent, type StreamEvent } from '../protocol.ts'
import { type Counted, type Draft, finishWord } from '../text/answer-text.ts'
import { type Choice, type Citation, type FunctionCall, openingTokens } from '../text/plan-reply.ts'
import { digestOf, type Seals } from '../text/seals.ts'
import { servedTier } from '../text/served.ts'

const adviceTokens = 20

/** Cached and written tokens are not in input_tokens. */
function usageOf({ fields, directives }: Draft, counted: Counted, outputTokens: number) {
  const { inputTokens, cache } = counted
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
    service_tier: servedTier(fields, directives) ?? 'standard',
    ...(fields['speed'] != null && { speed: servedSpeed(fields['speed'], directives) }),
    ...(directives.geo !== undefined && { inference_geo: directives.geo }),
  }
}

/** As asked, unless a directive names the tier. */
const servedSpeed = (asked: unknown, { tier }: Draft['directives']): unknown =>
  tier === undefined || tier === 'fast' ? asked : 'standard'

/** The passes of an answer whose input was compacted first, or read by another model. */
function passesOf({ directives }: Draft, usage: ReturnType<typeof usageOf>, inputTokens: number) {
  const { compactedTokens, advisor } = directives
  const passes = [
    compactedTokens !== undefined && {
      type: 'compaction',
      input_tokens: compactedTokens,
      output_tokens: 0,
    },
    advisor !== undefined && {
      type: 'advisor_message',
      model: advisor,
      input_tokens: inputTokens,
      output_tokens: adviceTokens,
    },
  ].filter((pass) => pass !== false)
  if (passes.length === 0) return {}
  const { service_tier: _, speed: __, inference_geo: ___, ...own } = usage
  return { iterations: [...passes, { type: 'message', ...own }] }
}

/** All of it. */
function complete(draft: Draft, counted: Counted) {
  const usage = usageOf(draft, counted, draft.reply.outputTokens)
  return { ...usage, ...passesOf(draft, usage, counted.inputTokens) }
}

const stopReasons = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  call: 'tool_use',
  refusal: 'refusal',
  filtered: 'refusal',
} as const

/** A block as it opens, what fills it token by token, and as it is when it is full. */
interface Block {
  opened: object
  fill: Iterable<[delta: object, outputTokens: number]>
  full: object
  openingTokens: number
}

const choiceOf = ({ reply }: Draft): Choice => reply.choices[0]!

/** Calls are one after the other in any case: a block ends before the next one begins. */
function blocksOf(draft: Draft, seals: Seals): Block[] {
  const { reasoning, tokens, calls, finish, citation } = choiceOf(draft)
  const blocks: Block[] = []
  if (reasoning.length > 0) blocks.push(reasoningBlock(draft, seals))
  if (tokens.length > 0 && finish !== 'refusal') blocks.push(textBlock(tokens, citation))
  blocks.push(...calls.map(toolBlock))
  return blocks
}

const toolUseId = ({ id }: FunctionCall): string => `toolu_${id}`

/** A seal says which text it is for, and which call came after it. */
function reasoningBlock(draft: Draft, seals: Seals): Block {
  const { reasoning, calls } = choiceOf(draft)
  const call = calls[0] === undefined ? '' : toolUseId(calls[0])
  const { display } = asObject(draft.fields['thinking'])
  if (!draft.directives.redacted) {
    const isShown = display !== 'omitted'
    const text = isShown ? reasoning.join('') : ''
    return thinkingBlock(reasoning, isShown, seals.make({ text: digestOf(text), call }))
  }
  const block = { type: 'redacted_thinking', data: seals.make({ redacted: true, call }) }
  return { opened: block, fill: [], full: block, openingTokens: reasoning.length }
}

function thinkingBlock(tokens: readonly string[], isShown: boolean, signature: string): Block {
  const deltas = tokens.map((thinking): [object, number] => [
    { type: 'thinking_delta', thinking },
    1,
  ])
  const signed: [object, number] = [{ type: 'signature_delta', signature }, 0]
  return {
    opened: { type: 'thinking', thinking: '', signature: '' },
    fill: isShown ? [...deltas, signed] : [signed],
    full: { type: 'thinking', thinking: isShown ? tokens.join('') : '', signature },
    openingTokens: isShown ? 0 : tokens.length,
  }
}

function textBlock(tokens: readonly string[], source: Citation | undefined): Block {
  const { quote, ...place } = source ?? {}
  const location = { type: 'web_search_result_location', encrypted_index: 'c2FuZGJveA==' }
  const citation = { ...location, ...place, cited_text: quote }
  const cited: [object, number][] = source ? [[{ type: 'citations_delta', citation }, 0]] : []
  const deltas = tokens.map((text): [object, number] => [{ type: 'text_delta', text }, 1])
  return {
    opened: { type: 'text', text: '', ...(source && { citations: [] }) },
    fill: [...deltas, ...cited],
    full: { type: 'text', text: tokens.join(''), ...(source && { citations: [citation] }) },
    openingTokens: 0,
  }
}

function toolBlock(call: FunctionCall): Block {
  const block = { type: 'tool_use', id: toolUseId(call), name: call.name }
  const filled = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
  return {
    opened: { ...block, input: {} },
    fill: [[filled(''), 0], ...call.tokens.map((json): [object, number] => [filled(json), 1])],
    full: { ...block, input: call.input },
    openingTokens: openingTokens(call),
  }
}

/** Why it ended; a refusal is explained here and not in the content. */
function stopOf(draft: Draft) {
  const { finish, tokens, stopSequence } = choiceOf(draft)
  const details = { type: 'refusal', category: 'policy', explanation: tokens.join('') }
  return {
    stop_reason: finishWord(draft.directives, stopReasons, finish) ?? null,
    stop_sequence: stopSequence ?? null,
    ...(finish === 'refusal' && { stop_details: details }),
  }
}

export function wholeMessage(draft: Draft, seals: Seals): unknown {
  const { counted } = draft
  return {
    ...headOf(draft),
    content: blocksOf(draft, seals).map((block) => block.full),
    ...stopOf(draft),
    usage: counted && complete(draft, counted),
  }
}

const headOf = ({ model, reply }: Draft) => ({
  id: `msg_${reply.hash.slice(0, 24)}`,
  type: 'message',
  role: 'assistant',
  model,
})

/** The input is counted at the start, the output at the end, unless a directive says otherwise. */
function usages(draft: Draft) {
  const { counted, reply, directives } = draft
  if (counted === undefined) return { start: undefined, end: undefined }
  const all = complete(draft, counted)
  const start = usageOf(draft, counted, 0)
  const output = { output_tokens: reply.outputTokens, ...passesOf(draft, all, counted.inputTokens) }
  switch (directives.usage) {
    case 'first':
      return { start: all, end: undefined }
    case 'every':
      return { start, end: all }
    case 'last':
      return { start: { input_tokens: 0, output_tokens: 0 }, end: all }
    default:
      return { start, end: output }
  }
}

export function* streamEvents(draft: Draft, seals: Seals): Generator<StreamEvent> {
  const { start, end } = usages(draft)
  const empty = { content: [], stop_reason: null, stop_sequence: null }
  yield event('message_start', { message: { ...headOf(draft), ...empty, usage: start } })
  yield event('ping', {})
  for (const [index, block] of blocksOf(draft, seals).entries()) {
    const opened = { index, content_block: block.opened }
    yield event('content_block_start', opened, block.openingTokens)
    for (const [delta, outputTokens] of block.fill) {
      yield event('content_block_delta', { index, delta }, outputTokens)
    }
    yield event('content_block_stop', { index })
  }
  const { finish, tokens } = choiceOf(draft)
  const untold = finish === 'refusal' ? tokens.length : 0
  yield event('message_delta', { delta: stopOf(draft), usage: end }, untold)
  if (!draft.directives.noDone) yield event('message_stop', {})
}

const event = (type: string, fields: object, outputTokens = 0): StreamEvent =>
  namedEvent({ type, ...fields }, outputTokens)
