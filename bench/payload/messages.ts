// A messages call as JSON and as named events: input counted at the start, output at the end.

import {
  inputTokens,
  namedEvent,
  outputTokens,
  type Payload,
  prompt,
  reply,
  wordStart,
  words,
} from './shape.ts'

export const messages: Payload = {
  pathOf: () => '/v1/messages',
  model: 'txta-plus',
  headers: { 'anthropic-version': '2023-06-01' },
  requestBody(mode, model = messages.model) {
    const turns = [{ role: 'user', content: prompt }]
    const fields = { model, max_tokens: 1024, messages: turns }
    return JSON.stringify(mode === 'json' ? fields : { ...fields, stream: true })
  },
  jsonAnswer: (model) =>
    JSON.stringify({
      ...head(model),
      content: [{ type: 'text', text: reply }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: usage(outputTokens.json),
    }),
  usageMark: '"output_tokens"',
  stream: {
    events(model) {
      const deltas = words.map((text) =>
        namedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      )
      return [...opening(model), ...deltas, ...closing()]
    },
    deltaMark: `"text":"${wordStart}`,
    endMark: '{"type":"message_stop"}',
  },
}

const head = (model: string) => ({
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model,
})

const usage = (output_tokens: number) => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens,
  service_tier: 'standard',
})

function opening(model: string): string[] {
  const begun = { content: [], stop_reason: null, stop_sequence: null, usage: usage(1) }
  const block = { type: 'text', text: '' }
  return [
    namedEvent({ type: 'message_start', message: { ...head(model), ...begun } }),
    namedEvent({ type: 'content_block_start', index: 0, content_block: block }),
    namedEvent({ type: 'ping' }),
  ]
}

function closing(): string[] {
  const delta = { stop_reason: 'end_turn', stop_sequence: null }
  const counted = { output_tokens: outputTokens.stream }
  return [
    namedEvent({ type: 'content_block_stop', index: 0 }),
    namedEvent({ type: 'message_delta', delta, usage: counted }),
    namedEvent({ type: 'message_stop' }),
  ]
}
