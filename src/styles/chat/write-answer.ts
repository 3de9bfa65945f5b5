// An answer as one chat completion.
import type { AnswerEvent, Citation, StopReason } from '../common/answer.ts'
import { type CollectedBlock, collectAnswer } from '../common/collect-answer.ts'
import type { Json } from '../common/conversation.ts'
import { present } from '../common/request-reading.ts'
import type { WriteContext } from '../common/style.ts'
import { extraContent } from './call-seal.ts'
import { writeUsage } from './usage.ts'

export function writeAnswer(events: readonly AnswerEvent[], context: WriteContext): Json {
  const { blocks, stop, usage } = collectAnswer(events)
  return {
    ...headOf(context, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: writeMessage(blocks, stop?.explanation, context),
        logprobs: null,
        finish_reason: finishReason(stop?.reason ?? 'end', hasRefusal(blocks)),
      },
    ],
    ...present({ usage: usage && writeUsage(usage) }),
  }
}

const hasRefusal = (blocks: readonly CollectedBlock[]): boolean =>
  blocks.some(({ block }) => block.kind === 'refusal')

export const headOf = ({ id, createdMs, model }: WriteContext, object: string): Json => ({
  id: `chatcmpl-${id}`,
  object,
  created: Math.floor(createdMs / 1000),
  model,
})

/** A refusal in the model's own words is an answer; one without is a filter's. */
export function finishReason(reason: StopReason, isWritten: boolean): string {
  if (reason === 'calls') return 'tool_calls'
  if (reason === 'length') return 'length'
  if (reason === 'filtered' || (reason === 'refusal' && !isWritten)) return 'content_filter'
  return 'stop'
}

function writeMessage(
  blocks: readonly CollectedBlock[],
  explanation: string | undefined,
  context: WriteContext,
): Json {
  const textOf = (kind: string): string | undefined => {
    const found = blocks.filter(({ block }) => block.kind === kind)
    return found.length === 0 ? undefined : found.map(({ text }) => text).join('')
  }
  const calls = blocks.flatMap((each) => writeCall(each, context))
  const content = textOf('text')
  const refusal = textOf('refusal') ?? explanation
  const reasoning = showsReasoning(context) ? textOf('reasoning') : undefined
  const details = blocks.flatMap((each) => detailsOf(each, context))
  const annotations = blocks.flatMap(({ citations }) => citations.map(writeCitation))
  return {
    role: 'assistant',
    content: content ?? (calls.length > 0 || refusal !== undefined ? null : ''),
    refusal: refusal ?? null,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
  }
}

export const showsReasoning = ({ conversation }: WriteContext): boolean =>
  conversation.showReasoning !== false

function writeCall({ block, text, seal }: CollectedBlock, { envelopes }: WriteContext): Json[] {
  if (block.kind !== 'call') return []
  const { id, name, freeForm } = block.call
  const extra = seal && extraContent(envelopes.wrap(seal))
  return [
    freeForm
      ? { id, type: 'custom', custom: { name, input: text }, ...extra }
      : { id, type: 'function', function: { name, arguments: text }, ...extra },
  ]
}

/** Only for callers that asked for it: others could not send it back. */
function detailsOf({ block, seal }: CollectedBlock, context: WriteContext): Json[] {
  if (block.kind !== 'reasoning' || seal === undefined) return []
  return context.conversation.wantsSeals ? [reasoningDetail(context.envelopes.wrap(seal))] : []
}

export const reasoningDetail = (envelope: string): Json => ({
  type: 'reasoning.encrypted',
  data: envelope,
  format: 'gateway',
})

export const writeCitation = ({ url, title, start, end }: Citation): Json => ({
  type: 'url_citation',
  url_citation: { url, title: title ?? url, start_index: start ?? 0, end_index: end ?? 0 },
})
