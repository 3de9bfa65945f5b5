// What a translated caller is shown is what it is charged for: for any usage that an upstream of any style
// reports, right or wrong, the usage in the answer, read again, is the usage of the charge.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TextReply, Translating } from '../../src/contract/provider.ts'
import type { ReportedUsage, TokenUsage } from '../../src/contract/usage.ts'
import { completeUsage, payable } from '../../src/engine/calls/charged-usage.ts'
import { Cancellation } from '../../src/lib/cancellation.ts'
import {
  callOf,
  eventStream,
  type Given,
  upstreamWith,
} from '../../src/providers/common/test-client.ts'
import { providers } from '../../src/providers/index.ts'
import { oddCount, someOf } from '../../src/providers/text/test-usage.ts'
import { readUsage as readChat } from '../../src/styles/chat/usage.ts'
import type { StyleName } from '../../src/styles/common/conversation.ts'
import { readUsage as readGenerate } from '../../src/styles/generate/usage.ts'
import { readUsage as readMessages } from '../../src/styles/messages/usage.ts'
import { readUsage as readResponses } from '../../src/styles/responses/usage.ts'
import { dataLines } from '../support/read.ts'
import { styleNames } from './chain.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const inputTokens = 17
const bounds = { inputTokens: 2_000, windowTokens: 5_000, outputTokens: 3_000 }
const charged: Translating['chargedUsage'] = (reported, count) =>
  payable(completeUsage(reported, inputTokens, count), bounds, reported, count)

const translating: Translating = {
  answerId: 'abc',
  createdMs: 1_700_000_000_000,
  maxOutputTokens: bounds.outputTokens,
  maxRequestBytes: 1_000_000,
  approve: () => undefined,
  chargedUsage: charged,
  envelopeKey: new Uint8Array(32),
  realm: 'here',
  settings: {},
}

const text = [{ role: 'user', content: 'Hi' }]
const requests: Record<StyleName, Any> = {
  chat: { model: 'own', messages: text, stream_options: { include_usage: true } },
  responses: { model: 'own', input: 'Hi' },
  messages: { model: 'own', max_tokens: 100, messages: text },
  generate: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}

const counts = fc.oneof({ weight: 3, arbitrary: fc.nat(4_000) }, oddCount)
const details = someOf({
  cached_tokens: counts,
  cache_write_tokens: counts,
  reasoning_tokens: counts,
  thinking_tokens: counts,
})
const plain = someOf({
  prompt_tokens: counts,
  completion_tokens: counts,
  input_tokens: counts,
  output_tokens: counts,
  total_tokens: counts,
  cache_read_input_tokens: counts,
  cache_creation_input_tokens: counts,
  prompt_tokens_details: details,
  input_tokens_details: details,
  completion_tokens_details: details,
  output_tokens_details: details,
})
const metadata = someOf({
  promptTokenCount: counts,
  toolUsePromptTokenCount: counts,
  cachedContentTokenCount: counts,
  candidatesTokenCount: counts,
  thoughtsTokenCount: counts,
  totalTokenCount: counts,
})
const usages: Record<StyleName, fc.Arbitrary<unknown>> = {
  chat: plain,
  responses: plain,
  messages: plain,
  generate: metadata,
}

/** A whole answer of the style with this usage. */
const answers: Record<StyleName, (usage: unknown) => Any> = {
  chat: (usage) => ({
    choices: [{ index: 0, message: { content: 'Hello there.' }, finish_reason: 'stop' }],
    usage,
  }),
  responses: (usage) => ({
    status: 'completed',
    output: [
      { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hello there.' }] },
    ],
    usage,
  }),
  messages: (usage) => ({
    type: 'message',
    content: [{ type: 'text', text: 'Hello there.' }],
    stop_reason: 'end_turn',
    usage,
  }),
  generate: (usageMetadata) => ({
    candidates: [{ content: { parts: [{ text: 'Hello there.' }] }, finishReason: 'STOP' }],
    usageMetadata,
  }),
}

/** The same as a stream. */
const streams: Record<StyleName, (usage: unknown) => Any[]> = {
  chat: (usage) => [
    { choices: [{ index: 0, delta: { content: 'Hello there.' }, finish_reason: 'stop' }] },
    { choices: [], usage },
  ],
  responses: (usage) => [
    { type: 'response.created', response: {} },
    { type: 'response.completed', response: answers.responses(usage) },
  ],
  messages: (usage) => [
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: 'Hello there.' },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ],
  generate: (usage) => [answers.generate(usage)],
}

const wire = (style: StyleName, usage: unknown): string => {
  const events = streams[style](usage).map((each) => `data: ${JSON.stringify(each)}\n\n`)
  return events.join('') + (style === 'chat' ? 'data: [DONE]\n\n' : '')
}

const readers: Record<StyleName, (answer: Any) => ReportedUsage | undefined> = {
  chat: ({ usage }) => readChat(usage),
  responses: ({ response, usage = response?.usage }) => readResponses(usage),
  messages: ({ usage }) => readMessages(usage),
  generate: ({ usageMetadata }) => readGenerate(usageMetadata),
}

async function ask(caller: StyleName, over: StyleName, given: Given, stream: boolean) {
  const { upstream } = upstreamWith(given)
  const fields = { ...requests[caller], ...(caller !== 'generate' && { stream }) }
  const call = callOf(fields, { interface: caller, model: 'own', stream, inputTokens })
  return providers.get(over)!.text!.send(call, { ...upstream, translating }, new Cancellation())
}

async function shownIn(caller: StyleName, reply: TextReply): Promise<[Any, TokenUsage]> {
  if (reply.kind === 'failed') throw new Error(reply.error.message)
  if (reply.kind === 'json') {
    return [
      JSON.parse(reply.body as string),
      charged(reply.reported.usage, reply.countOutputTokens),
    ]
  }
  const { answer, watcher } = reply
  for (let bytes = await answer.read(); bytes; bytes = await answer.read()) watcher.take(bytes)
  watcher.close()
  expect(watcher.outcome).toBe('finished')
  const events = dataLines(Buffer.from(watcher.ending!).toString())
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line) as Any)
  const shown = events.findLast((each) => readers[caller](each) !== undefined)
  return [shown, charged(watcher.reported.usage, () => watcher.countOutputTokens())]
}

/** This style has no word for tokens that were written to a cache: they are input. */
const asShown = (caller: StyleName, usage: TokenUsage): TokenUsage =>
  caller === 'generate' ? { ...usage, cacheWriteTokens: 0 } : usage

const pairs = styleNames.flatMap((caller) =>
  styleNames.filter((over) => over !== caller).map((over) => [caller, over] as const),
)

describe.each(pairs)('%s over %s', (caller, over) => {
  test.each([false, true])('shows what it charges (stream: %p)', async (stream) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(usages[over], fc.constant(undefined)), async (usage) => {
        const given = stream
          ? { body: wire(over, usage), headers: eventStream }
          : { body: JSON.stringify(answers[over](usage)) }
        const [shown, paid] = await shownIn(caller, await ask(caller, over, given, stream))
        const { reasoningTokens = 0, ...read } = readers[caller](shown)!
        expect(read).toEqual(asShown(caller, paid))
        expect(reasoningTokens).toBeLessThanOrEqual(paid.outputTokens)
      }),
      { numRuns: 100 },
    )
  })
})
