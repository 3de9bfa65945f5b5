// The stream of a responses answer: typed events, numbered from 0, one delta per token. The last
// one carries the whole response; there is no [DONE].

import { namedEvent, type StreamEvent } from '../protocol.ts'
import type { Draft } from '../text/answer-text.ts'
import { openingTokens } from '../text/plan-reply.ts'
import {
  callItem,
  choiceOf,
  finalResponse,
  hasMessage,
  type Item,
  messageItem,
  openResponse,
  outputText,
  reasoningItem,
  summaryText,
  thoughtStatus,
  wasCut,
} from './wire.ts'

/** An event before it is numbered. */
type Step = [type: string, fields: object, outputTokens?: number]

export function* streamEvents(draft: Draft): Generator<StreamEvent> {
  let number = 0
  for (const [name, fields, outputTokens] of steps(draft)) {
    const type = `response.${name}`
    yield namedEvent({ type, ...fields, ...{ sequence_number: number++ } }, outputTokens)
  }
}

function* steps(draft: Draft): Generator<Step> {
  const { reasoning, call } = choiceOf(draft)
  const begun = openResponse(draft)
  yield ['created', { response: begun }]
  yield ['in_progress', { response: begun }]
  let outputIndex = 0
  if (reasoning.length > 0) yield* reasoningSteps(draft, outputIndex++)
  if (call !== undefined) yield* callSteps(draft, outputIndex)
  else if (hasMessage(draft)) yield* messageSteps(draft, outputIndex)
  yield [wasCut(draft) ? 'incomplete' : 'completed', { response: finalResponse(draft) }]
}

const added = (item: Item, output_index: number): Step => [
  'output_item.added',
  { output_index, item },
]

const done = (item: Item, output_index: number): Step => [
  'output_item.done',
  { output_index, item },
]

function* reasoningSteps(draft: Draft, outputIndex: number): Generator<Step> {
  const { reasoning } = choiceOf(draft)
  const item = reasoningItem(draft, 'in_progress')
  const place = { item_id: item.id, output_index: outputIndex, summary_index: 0 }
  const whole = summaryText(reasoning)
  yield added(item, outputIndex)
  yield ['reasoning_summary_part.added', { ...place, part: summaryText([]) }]
  for (const delta of reasoning) yield ['reasoning_summary_text.delta', { ...place, delta }, 1]
  yield ['reasoning_summary_text.done', { ...place, text: whole.text }]
  yield ['reasoning_summary_part.done', { ...place, part: whole }]
  yield done(reasoningItem(draft, thoughtStatus(draft), reasoning), outputIndex)
}

function* messageSteps(draft: Draft, outputIndex: number): Generator<Step> {
  const { tokens } = choiceOf(draft)
  const item = messageItem(draft, 'in_progress')
  const place = { item_id: item.id, output_index: outputIndex, content_index: 0 }
  const whole = outputText(tokens)
  yield added(item, outputIndex)
  yield ['content_part.added', { ...place, part: outputText([]) }]
  for (const delta of tokens) yield ['output_text.delta', { ...place, delta, logprobs: [] }, 1]
  yield ['output_text.done', { ...place, text: whole.text, logprobs: [] }]
  yield ['content_part.done', { ...place, part: whole }]
  yield done(messageItem(draft, wasCut(draft) ? 'incomplete' : 'completed', tokens), outputIndex)
}

function* callSteps(draft: Draft, outputIndex: number): Generator<Step> {
  const call = choiceOf(draft).call!
  const item = callItem(draft, 'in_progress')
  const place = { item_id: item.id, output_index: outputIndex }
  const complete = callItem(draft, 'completed', call.tokens)
  yield ['output_item.added', { output_index: outputIndex, item }, openingTokens(call)]
  for (const delta of call.tokens) yield ['function_call_arguments.delta', { ...place, delta }, 1]
  const { name, arguments: given } = complete
  yield ['function_call_arguments.done', { ...place, name, arguments: given }]
  yield done(complete, outputIndex)
}
