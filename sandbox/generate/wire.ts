// The wire shapes of an answer of the generate style: the answer, the events of its stream, its usage.

import { asObject } from '../http/fields.ts'
import type { StreamEvent } from '../protocol.ts'
import { type Counted, type Draft, finishWord } from '../text/answer-text.ts'
import { type Choice, type Citation, type FunctionCall, openingTokens } from '../text/plan-reply.ts'
import type { Seals } from '../text/seals.ts'
import { type MediaTokens, servedTier } from '../text/served.ts'
import { callDigest } from './check-seals.ts'
import { field } from './request.ts'

/** Cached tokens are inside the prompt, thoughts are beside the candidates; zeros are left out. */
function usageOf(counted: Counted) {
  const { inputTokens, outputTokens, reasoningTokens, cache, inputMedia, outputMedia } = counted
  const candidates = outputTokens - reasoningTokens
  return {
    promptTokenCount: inputTokens,
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    ...(cache.cachedTokens > 0 && { cachedContentTokenCount: cache.cachedTokens }),
    totalTokenCount: inputTokens + outputTokens,
    promptTokensDetails: modalities(inputTokens, inputMedia),
    ...(outputMedia !== undefined && {
      candidatesTokensDetails: modalities(candidates, outputMedia),
    }),
  }
}

const modalities = (all: number, media: MediaTokens | undefined) => {
  const { audio = 0, image = 0 } = media ?? {}
  return [
    { modality: 'TEXT', tokenCount: Math.max(0, all - audio - image) },
    ...(audio > 0 ? [{ modality: 'AUDIO', tokenCount: audio }] : []),
    ...(image > 0 ? [{ modality: 'IMAGE', tokenCount: image }] : []),
  ]
}

/** Of the tiers that have one. */
const traffic: Readonly<Record<string, string>> = {
  priority: 'ON_DEMAND_PRIORITY',
  flex: 'ON_DEMAND_FLEX',
}

const finishReasons = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  length: 'MAX_TOKENS',
  call: 'STOP',
  refusal: 'SAFETY',
  filtered: 'SAFETY',
} as const

/** Where a chunk stands in a stream; a whole answer is the last one. */
type Place = 'first' | 'middle' | 'last'

/** Until the end, only the input is counted. */
function tailOf({ model, reply, counted, fields, directives }: Draft, place: Place) {
  const { usage = 'every' } = directives
  const tier = servedTier(fields, directives)
  const trafficType = tier === undefined ? undefined : (traffic[tier] ?? tier.toUpperCase())
  const isTold = counted !== undefined && (usage === 'every' || usage === place)
  const soFar =
    isTold && place !== 'last' && usage === 'every'
      ? { ...counted, outputTokens: 0, reasoningTokens: 0 }
      : counted
  return {
    ...(isTold &&
      soFar !== undefined && {
        usageMetadata: { ...usageOf(soFar), ...(trafficType !== undefined && { trafficType }) },
      }),
    modelVersion: model,
    responseId: reply.hash.slice(0, 24),
  }
}

/** Thoughts are counted in any case and shown on request only. */
function showsThoughts({ fields, directives }: Draft): boolean {
  const settings = asObject(field(fields, 'generationConfig'))
  const thinking = asObject(field(settings, 'thinkingConfig'))
  return field(thinking, 'includeThoughts') === true && !directives.redacted
}

const callPart = ({ id, name, input }: FunctionCall) => ({
  functionCall: { id: `call_${id}`, name, args: input },
})

/** The question was refused: there is no candidate at all. */
const blockedAnswer = (draft: Draft) => ({
  promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
  ...tailOf(draft, 'last'),
})

const isBlocked = ({ directives }: Draft): boolean => directives.refusal === 'prompt'

/** Its seal is on the first call, or else on the text. */
function partsOf(draft: Draft, choice: Choice, seals: Seals): object[] {
  const { reasoning, tokens, calls, finish } = choice
  const thoughts = showsThoughts(draft) ? reasoning : []
  const isSilent = tokens.length === 0 || finish === 'refusal'
  const sealed = isSilent || calls.length === 0 ? 0 : 1
  const said = [...(isSilent ? [] : [{ text: tokens.join('') }]), ...calls.map(callPart)]
  return [
    ...(thoughts.length > 0 ? [{ text: thoughts.join(''), thought: true }] : []),
    ...said.map((part, at) => (at === sealed ? { ...part, ...sealOf(choice, seals) } : part)),
  ]
}

export const wholeAnswer = (draft: Draft, seals: Seals): unknown =>
  isBlocked(draft)
    ? blockedAnswer(draft)
    : {
        candidates: draft.reply.choices.map((choice, index) => ({
          content: { parts: partsOf(draft, choice, seals), role: 'model' },
          ...finishOf(draft, choice),
          index,
        })),
        ...tailOf(draft, 'last'),
      }

function groundingOf({ url, title, quote }: Citation) {
  const segment = { startIndex: 0, endIndex: Buffer.byteLength(quote), text: quote }
  return {
    groundingChunks: [{ web: { uri: url, title } }],
    groundingSupports: [{ segment, groundingChunkIndices: [0] }],
  }
}

function finishOf({ directives }: Draft, { finish, tokens, citation }: Choice) {
  const finishReason = finishWord(directives, finishReasons, finish)
  return {
    ...(finishReason !== undefined && { finishReason }),
    ...(finish === 'refusal' && { finishMessage: tokens.join('') }),
    ...(citation !== undefined && { groundingMetadata: groundingOf(citation) }),
  }
}

/** Empty without reasoning. */
function sealOf({ reasoning, calls }: Choice, seals: Seals): object {
  if (reasoning.length === 0) return {}
  const [first] = calls
  return {
    thoughtSignature: seals.make({ call: first ? callDigest(first.name) : '' }),
  }
}

interface ChunkParts {
  parts: object[]
  outputTokens: number
}

/** One chunk per token; a call is one chunk; the last one of a choice says why it ended. */
function* chunkParts(draft: Draft, choice: Choice, seals: Seals): Generator<ChunkParts> {
  const { reasoning, tokens, calls, finish } = choice
  const isShown = showsThoughts(draft)
  const shown = finish === 'refusal' ? [] : tokens
  if (isShown)
    for (const text of reasoning) yield { parts: [{ text, thought: true }], outputTokens: 1 }
  for (const text of shown) yield { parts: [{ text }], outputTokens: 1 }
  const seal = sealOf(choice, seals)
  for (const [at, call] of calls.entries()) {
    const outputTokens = openingTokens(call) + call.tokens.length
    yield { parts: [{ ...callPart(call), ...(at === 0 && seal) }], outputTokens }
  }
  const hidden = (isShown ? 0 : reasoning.length) + tokens.length - shown.length
  yield { parts: [{ text: '', ...(calls.length === 0 && seal) }], outputTokens: hidden }
}

function* chunks(draft: Draft, seals: Seals): Generator<{ value: object; outputTokens: number }> {
  const { choices, outputTokens } = draft.reply
  if (isBlocked(draft)) return yield { value: blockedAnswer(draft), outputTokens }
  let place: Place = 'first'
  for (const [index, choice] of choices.entries()) {
    const all = [...chunkParts(draft, choice, seals)]
    for (const [at, { parts, outputTokens }] of all.entries()) {
      const isEnd = at === all.length - 1
      if (isEnd && index === choices.length - 1) place = 'last'
      const content = { parts, role: 'model' }
      const candidate = { content, ...(isEnd && finishOf(draft, choice)), index }
      yield { value: { candidates: [candidate], ...tailOf(draft, place) }, outputTokens }
      place = 'middle'
    }
  }
}

export function* streamEvents(draft: Draft, seals: Seals): Generator<StreamEvent> {
  for (const { value, outputTokens } of chunks(draft, seals)) {
    yield { wire: `data: ${JSON.stringify(value)}\r\n\r\n`, outputTokens }
  }
}

/** The same as a JSON list that grows. */
export function* listEvents(draft: Draft, seals: Seals): Generator<StreamEvent> {
  let before = '['
  for (const { value, outputTokens } of chunks(draft, seals)) {
    yield { wire: `${before}${JSON.stringify(value, undefined, 2)}\n`, outputTokens }
    before = ',\r\n'
  }
  yield { wire: ']\n', outputTokens: 0 }
}
