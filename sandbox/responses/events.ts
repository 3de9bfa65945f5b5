// The stream of a responses answer: typed events, numbered from 0, one delta per token. The last
// one carries the whole response; there is no [DONE].

import { namedEvent, type StreamEvent } from '../protocol.ts'
import type { Draft } from '../text/answer-text.ts'
import { openingTokens } from '../text/plan-reply.ts'
import type { Seals } from '../text/seals.ts'
import { type CallStep, orderCalls } from '../text/stream-order.ts'
import {
  annotationsOf,
  callItem,
  choiceOf,
  contentPart,
  cutReason,
  finalResponse,
  hasMessage,
  type Item,
  messageItem,
  openResponse,
  reasoningItem,
  summaryText,
  thoughtStatus,
  wasCut,
} from './wire.ts'

/** An event before it is numbered. */
type Step = [type: string, fields: object, outputTokens?: number]

export function* streamEvents(draft: Draft, seals: Seals): Generator<StreamEvent> {
  let number = 0
  for (const [name, fields, outputTokens] of steps(draft, seals)) {
    const type = `response.${name}`
    yield namedEvent({ type, ...fields, ...{ sequence_number: number++ } }, outputTokens)
  }
}

function* steps(draft: Draft, seals: Seals): Generator<Step> {
  const { reasoning, calls } = choiceOf(draft)
  const begun = openResponse(draft)
  yield ['created', { response: begun }]
  yield ['in_progress', { response: begun }]
  let outputIndex = 0
  if (reasoning.length > 0) yield* reasoningSteps(draft, seals, outputIndex++)
  if (hasMessage(draft)) yield* messageSteps(draft, outputIndex++)
  for (const step of orderCalls(calls, draft.directives)) {
    yield* callSteps(step, outputIndex + step.at)
  }
  const reason = cutReason(draft)
  if (reason === undefined) return
  yield [reason === '' ? 'completed' : 'incomplete', { response: finalResponse(draft, seals) }]
}

const added = (item: Item, output_index: number, outputTokens = 0): Step => [
  'output_item.added',
  { output_index, item },
  outputTokens,
]

const done = (item: Item, output_index: number): Step => [
  'output_item.done',
  { output_index, item },
]

function* reasoningSteps(draft: Draft, seals: Seals, outputIndex: number): Generator<Step> {
  const { reasoning } = choiceOf(draft)
  const { redacted } = draft.directives
  const item = reasoningItem(draft, seals, 'in_progress')
  const place = { item_id: item.id, output_index: outputIndex, summary_index: 0 }
  yield added(item, outputIndex, redacted ? reasoning.length : 0)
  if (!redacted) {
    const whole = summaryText(reasoning)
    yield ['reasoning_summary_part.added', { ...place, part: summaryText([]) }]
    for (const delta of reasoning) yield ['reasoning_summary_text.delta', { ...place, delta }, 1]
    yield ['reasoning_summary_text.done', { ...place, text: whole.text }]
    yield ['reasoning_summary_part.done', { ...place, part: whole }]
  }
  yield done(reasoningItem(draft, seals, thoughtStatus(draft), reasoning), outputIndex)
}

function* messageSteps(draft: Draft, outputIndex: number): Generator<Step> {
  const { tokens } = choiceOf(draft)
  const item = messageItem(draft, 'in_progress')
  const place = { item_id: item.id, output_index: outputIndex, content_index: 0 }
  const whole = contentPart(draft, tokens)
  const { type, ...full } = whole
  const more = 'logprobs' in whole ? { logprobs: [] } : {}
  yield added(item, outputIndex)
  yield ['content_part.added', { ...place, part: contentPart(draft, []) }]
  for (const delta of tokens) yield [`${type}.delta`, { ...place, delta, ...more }, 1]
  for (const [annotation_index, annotation] of annotationsOf(draft).entries()) {
    yield ['output_text.annotation.added', { ...place, annotation_index, annotation }]
  }
  const said = 'text' in full ? { text: full.text } : full
  yield [`${type}.done`, { ...place, ...said, ...more }]
  yield ['content_part.done', { ...place, part: whole }]
  yield done(messageItem(draft, wasCut(draft) ? 'incomplete' : 'completed', tokens), outputIndex)
}

function* callSteps({ call, ...step }: CallStep, outputIndex: number): Generator<Step> {
  const item = callItem(call, 'in_progress')
  const place = { item_id: item.id, output_index: outputIndex }
  const kind = call.freeForm ? 'custom_tool_call_input' : 'function_call_arguments'
  if (step.step === 'open') return yield added(item, outputIndex, openingTokens(call))
  if (step.step === 'token') return yield [`${kind}.delta`, { ...place, delta: step.token }, 1]
  const complete = callItem(call, 'completed', call.tokens)
  const text = call.tokens.join('')
  const given = call.freeForm ? { input: text } : { name: call.name, arguments: text }
  yield [`${kind}.done`, { ...place, ...given }]
  yield done(complete, outputIndex)
}
