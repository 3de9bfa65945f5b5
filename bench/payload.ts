// The bytes of the bench: what callers ask and what the fake upstream answers, with known usage.
// Refuses to know sockets, processes and prices.

export const model = 'txta-plus'
export const chunkCount = 100
export const doneEvent = 'data: [DONE]'

export type Mode = 'json' | 'stream'

const promptTokens = 120
const outputTokens: Record<Mode, number> = { json: 64, stream: chunkCount }

/** All tokens of one answer. With one price for every kind of token, this alone is the charge. */
export function tokensPerCall(mode: Mode): number {
  return promptTokens + outputTokens[mode]
}

export function requestBody(mode: Mode): string {
  const messages = [{ role: 'user', content: 'please tell me something nice '.repeat(16) }]
  if (mode === 'json') return JSON.stringify({ model, messages })
  return JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } })
}

function usage(mode: Mode) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens[mode],
    total_tokens: tokensPerCall(mode),
  }
}

export function jsonAnswer(modelName: string): string {
  const content = 'a short answer made of some plain words. '.repeat(8)
  return JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: modelName,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: usage('json'),
  })
}

/** The events of one stream: 100 content chunks, then usage and the end mark as the last item. */
export function streamEvents(modelName: string): string[] {
  const event = (fields: object) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: modelName,
      ...fields,
    })}\n\n`
  const choice = { index: 0, delta: { content: ' word' }, finish_reason: null }
  const content = event({ choices: [choice], usage: null })
  const last = event({ choices: [], usage: usage('stream') })
  return [...Array<string>(chunkCount).fill(content), `${last}${doneEvent}\n\n`]
}
