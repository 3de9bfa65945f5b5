// An answer as one message.
import { type AnswerEvent, type Citation, isCut, type StopReason } from '../common/answer.ts'
import { isJson } from '../common/answer-sequence.ts'
import { type CollectedBlock, collectAnswer } from '../common/collect-answer.ts'
import type { Json } from '../common/conversation.ts'
import type { Seal } from '../common/envelope.ts'
import { inputObject } from '../common/exact-json.ts'
import { wrapInput } from '../common/free-form.ts'
import { present } from '../common/request-reading.ts'
import type { WriteContext } from '../common/style.ts'
import { writeUsage } from './usage.ts'

export function writeAnswer(events: readonly AnswerEvent[], context: WriteContext): Json {
  const { blocks, stop, usage } = collectAnswer(events)
  return {
    id: `msg_${context.id}`,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: blocks.flatMap((each) => writeBlock(each, context, isCut(stop))),
    ...writeStop(stop),
    ...present({ usage: usage && writeUsage(usage) }),
  }
}

type Stop = { reason: StopReason; sequence?: string; explanation?: string }

const stopReasons: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  stop_sequence: 'stop_sequence',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'refusal',
  refusal: 'refusal',
}

export function writeStop(stop: Stop | undefined): Json {
  const { reason = 'end', sequence, explanation } = stop ?? {}
  const isUnnamed = reason === 'stop_sequence' && sequence === undefined
  const word = isUnnamed ? 'end_turn' : stopReasons[reason]
  return {
    stop_reason: word,
    stop_sequence: reason === 'stop_sequence' ? (sequence ?? null) : null,
    ...(word === 'refusal' && {
      stop_details: { type: 'refusal', category: null, explanation: explanation ?? null },
    }),
  }
}

function writeBlock(collected: CollectedBlock, context: WriteContext, wasCut: boolean): Json[] {
  const { block, text, seal, citations } = collected
  if (block.kind === 'call') return writeCall(collected, context, wasCut)
  if (block.kind === 'reasoning') {
    if (block.redacted) return seal ? [redactedBlock(seal, context)] : []
    const shown = showsReasoning(context)
    const signature = seal ? wrapped(seal, text, context) : ''
    return [{ type: 'thinking', thinking: shown ? text : '', signature }]
  }
  if (text === '') return []
  return [
    {
      type: 'text',
      text,
      ...(citations.length > 0 && { citations: citations.map(writeCitation) }),
    },
  ]
}

export const redactedBlock = (seal: Seal, { envelopes }: WriteContext): Json => ({
  type: 'redacted_thinking',
  data: envelopes.wrap(seal),
})

export const showsReasoning = ({ conversation }: WriteContext): boolean =>
  conversation.showReasoning !== false

/** Text that is not shown travels in the envelope. */
export function wrapped(seal: Seal, text: string, context: WriteContext): string {
  const hidden = !showsReasoning(context) && seal.text === undefined && text !== ''
  return context.envelopes.wrap(hidden ? { ...seal, text } : seal)
}

function writeCall(
  { block, text, seal }: CollectedBlock,
  context: WriteContext,
  wasCut: boolean,
): Json[] {
  if (block.kind !== 'call') return []
  const { id, name, freeForm } = block.call
  if (wasCut && !freeForm && !isJson(text)) return []
  const { input } = inputObject(freeForm ? wrapInput(text) : text)
  const call = { type: 'tool_use', id, name, input }
  return seal ? [callSeal(seal, id, context), call] : [call]
}

/** The seal of a call has no place in this style but that of reasoning; its id says which call. */
export const callSeal = (seal: Seal, callId: string, { envelopes }: WriteContext): Json => ({
  type: 'thinking',
  thinking: '',
  signature: envelopes.wrap({ ...seal, itemId: callId }),
})

export const writeCitation = ({ url, title, quote }: Citation): Json => ({
  type: 'web_search_result_location',
  url,
  title: title ?? null,
  cited_text: quote ?? '',
  encrypted_index: '',
})
