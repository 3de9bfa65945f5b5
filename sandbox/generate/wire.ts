// The wire shapes of an answer of the generate style: the answer, the events of its stream, its usage.
import { asObject } from '../http/fields.ts'
import type { StreamEvent } from '../protocol.ts'
import type { Counted, Draft } from '../text/answer-text.ts'
import { type Choice, type FunctionCall, openingTokens } from '../text/plan-reply.ts'
import { field } from './request.ts'

/** Cached tokens are inside the prompt, thoughts are beside the candidates; zeros are left out. */
function usageOf({ inputTokens, outputTokens, reasoningTokens, cache }: Counted) {
  const candidates = outputTokens - reasoningTokens
  return {
    promptTokenCount: inputTokens,
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    ...(cache.cachedTokens > 0 && { cachedContentTokenCount: cache.cachedTokens }),
    totalTokenCount: inputTokens + outputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
  }
}

const finishReasons = { stop: 'STOP', length: 'MAX_TOKENS', call: 'STOP' } as const

const tailOf = ({ model, reply, counted }: Draft) => ({
  ...(counted !== undefined && { usageMetadata: usageOf(counted) }),
  modelVersion: model,
  responseId: reply.hash.slice(0, 24),
})

/** While it goes on, only the input is counted. */
const tailSoFar = (draft: Draft) =>
  tailOf({
    ...draft,
    counted: draft.counted && { ...draft.counted, outputTokens: 0, reasoningTokens: 0 },
  })

/** Thoughts are counted in any case and shown on request only. */
function showsThoughts({ fields }: Draft): boolean {
  const settings = asObject(field(fields, 'generationConfig'))
  const thinking = asObject(field(settings, 'thinkingConfig'))
  return field(thinking, 'includeThoughts') === true
}

const signatureOf = ({ reply }: Draft): string => Buffer.from(reply.hash, 'hex').toString('base64')

const callPart = (draft: Draft, { id, name, input }: FunctionCall, isSigned: boolean) => ({
  functionCall: { id: `call_${id}`, name, args: input },
  ...(isSigned && { thoughtSignature: signatureOf(draft) }),
})

function partsOf(draft: Draft, { reasoning, tokens, call }: Choice): object[] {
  const thoughts = showsThoughts(draft) ? reasoning : []
  return [
    ...(thoughts.length > 0 ? [{ text: thoughts.join(''), thought: true }] : []),
    ...(tokens.length > 0 ? [{ text: tokens.join('') }] : []),
    ...(call === undefined ? [] : [callPart(draft, call, reasoning.length > 0)]),
  ]
}

export const wholeAnswer = (draft: Draft): unknown => ({
  candidates: draft.reply.choices.map((choice, index) => ({
    content: { parts: partsOf(draft, choice), role: 'model' },
    finishReason: finishReasons[choice.finish],
    index,
  })),
  ...tailOf(draft),
})

/** One chunk per token; a call is one chunk; the last one of a choice says why it ended. */
function* chunks(draft: Draft): Generator<{ value: object; outputTokens: number }> {
  const soFar = tailSoFar(draft)
  const { choices } = draft.reply
  for (const [index, choice] of choices.entries()) {
    const tail = index === choices.length - 1 ? tailOf(draft) : soFar
    const chunk = (parts: object[], outputTokens: number, finishReason?: string) => ({
      value: {
        candidates: [
          { content: { parts, role: 'model' }, ...(finishReason && { finishReason }), index },
        ],
        ...(finishReason ? tail : soFar),
      },
      outputTokens,
    })
    const { reasoning, tokens, call, finish } = choice
    const isShown = showsThoughts(draft)
    if (isShown) for (const text of reasoning) yield chunk([{ text, thought: true }], 1)
    for (const text of tokens) yield chunk([{ text }], 1)
    if (call !== undefined) {
      const part = callPart(draft, call, reasoning.length > 0)
      yield chunk([part], openingTokens(call) + call.tokens.length)
    }
    const hidden = isShown ? 0 : reasoning.length
    yield chunk([{ text: '' }], hidden, finishReasons[finish])
  }
}

export function* streamEvents(draft: Draft): Generator<StreamEvent> {
  for (const { value, outputTokens } of chunks(draft)) {
    yield { wire: `data: ${JSON.stringify(value)}\r\n\r\n`, outputTokens }
  }
}

/** The same as a JSON list that grows. */
export function* listEvents(draft: Draft): Generator<StreamEvent> {
  let before = '['
  for (const { value, outputTokens } of chunks(draft)) {
    yield { wire: `${before}${JSON.stringify(value, undefined, 2)}\n`, outputTokens }
    before = ',\r\n'
  }
  yield { wire: ']\n', outputTokens: 0 }
}
