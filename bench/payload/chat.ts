// A chat call as JSON and as a stream of 100 content chunks, with its usage in a chunk of its own.

import {
  createdAt,
  inputTokens,
  type Mode,
  outputTokens,
  type Payload,
  prompt,
  reply,
  tokensPerCall,
  wordStart,
  words,
} from './shape.ts'

const doneEvent = 'data: [DONE]'
const messages = [{ role: 'user', content: prompt }]

export const chat: Payload = {
  pathOf: () => '/v1/chat/completions',
  model: 'txta-plus',
  headers: {},
  requestBody(mode, model = chat.model) {
    if (mode === 'json') return JSON.stringify({ model, messages })
    const stream_options = { include_usage: true }
    return JSON.stringify({ model, messages, stream: true, stream_options })
  },
  jsonAnswer(model) {
    const message = { role: 'assistant', content: reply }
    return JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: createdAt,
      model,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: usage('json'),
    })
  },
  usageMark: '"completion_tokens"',
  stream: {
    events(model, asksUsage = true) {
      const deltaOf = asksUsage ? chatDelta : plainDelta
      const end = asksUsage ? chatEnd(model) : plainEnd(model)
      return [...words.map((word) => deltaOf(model, word)), end]
    },
    deltaMark: `"content":"${wordStart}`,
    endMark: doneEvent,
  },
}

const usage = (mode: Mode) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens[mode],
  total_tokens: tokensPerCall(mode),
})

const chunk = (model: string, fields: object): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: createdAt,
    model,
    ...fields,
  })}\n\n`

export const chatDelta = (model: string, content: string): string =>
  chunk(model, { choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null })

/** Finish reason, usage and end mark. */
export const chatEnd = (model: string): string => {
  const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  const finish = chunk(model, { choices, usage: null })
  return `${finish}${chunk(model, { choices: [], usage: usage('stream') })}${doneEvent}\n\n`
}

/** The same where the caller did not ask for usage: no chunk has any. */
const plainDelta = (model: string, content: string): string =>
  chunk(model, { choices: [{ index: 0, delta: { content }, finish_reason: null }] })

const plainEnd = (model: string): string =>
  `${chunk(model, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${doneEvent}\n\n`
