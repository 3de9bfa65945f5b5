// Streams of the gateway as the official SDKs put them together.
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { chat } from '../../src/styles/chat/index.ts'
import type { AnswerEvent } from '../../src/styles/common/answer.ts'
import { AnswerSequence } from '../../src/styles/common/answer-sequence.ts'
import type { Style } from '../../src/styles/common/style.ts'
import { emptyConversation, writeContext, written } from '../../src/styles/common/test-support.ts'
import { messages } from '../../src/styles/messages/index.ts'

const usage = {
  inputTokens: 10,
  outputTokens: 4,
  cacheReadTokens: 3,
  cacheWriteTokens: 0,
  reasoningTokens: 1,
}

const events: AnswerEvent[] = []
const out = new AnswerSequence()
out.emit = (event) => events.push(event)
out.begin()
out.text('reasoning', 'Let me ')
out.text('reasoning', 'see.')
out.seal({ realm: 'r', data: 's' })
out.text('text', 'I ')
out.text('text', 'ask \u{1f600}.')
out.openCall({ id: 'i', name: 'f', freeForm: false })
out.input('{"x":"')
out.input('\\u00e9"}')
out.openCall({ id: 'j', name: 'g', freeForm: false })
out.text('text', 'Done.')
out.finish({ reason: 'end' }, usage)

/** Gives the stream or the answer of a style, whatever is asked. */
const answering = (style: Style) => async (_: unknown, init?: { body?: unknown }) => {
  const fields = JSON.parse(String(init?.body))
  const context = writeContext(emptyConversation, fields)
  if (!fields.stream) return Response.json(style.writeAnswer(events, context))
  return new Response(written(style.newWriter(context), events), {
    headers: { 'content-type': 'text/event-stream' },
  })
}

describe('the messages SDK', () => {
  const client = new Anthropic({
    apiKey: 'k',
    baseURL: 'https://gw.example',
    fetch: answering(messages) as never,
  })
  const request = { model: 'm', max_tokens: 5, messages: [{ role: 'user' as const, content: 'x' }] }

  test('puts a stream together as the answer without one', async () => {
    const streamed = await client.messages.stream(request).finalMessage()
    const whole = await client.messages.create(request)
    const content = (message: { content: readonly object[] }) =>
      message.content.map((block) => JSON.parse(JSON.stringify(block)))
    expect(content(streamed)).toEqual(content(whole))
    expect(content(whole)).toMatchObject([
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: 'I ask \u{1f600}.' },
      { type: 'tool_use', id: 'i', name: 'f', input: { x: 'é' } },
      { type: 'tool_use', id: 'j', name: 'g', input: {} },
      { type: 'text', text: 'Done.' },
    ])
    expect([streamed.stop_reason, streamed.usage.output_tokens]).toEqual(['tool_use', 4])
  })
})

describe('the chat SDK', () => {
  const client = new OpenAI({
    apiKey: 'k',
    baseURL: 'https://gw.example',
    fetch: answering(chat) as never,
  })
  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }] }

  test('puts a stream together as the answer without one', async () => {
    const stream = client.chat.completions.stream({
      ...request,
      stream_options: { include_usage: true },
    })
    const streamed = await stream.finalChatCompletion()
    const whole = await client.chat.completions.create(request)
    const essence = ({ choices: [choice], usage: counted }: typeof whole) => ({
      content: choice!.message.content,
      calls: choice!.message.tool_calls?.map((call) =>
        call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [],
      ),
      reason: choice!.finish_reason,
      total: counted?.total_tokens,
    })
    expect(essence(streamed)).toEqual(essence(whole))
    expect(essence(whole)).toEqual({
      content: 'I ask \u{1f600}.Done.',
      calls: [
        ['i', 'f', '{"x":"\\u00e9"}'],
        ['j', 'g', '{}'],
      ],
      reason: 'tool_calls',
      total: 14,
    })
  })
})
