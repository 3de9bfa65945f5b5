// The text styles as an upstream speaks them: what is asked, a good answer, a good stream, and
// what both cost. Knows no faults.

export type StyleName = 'chat' | 'responses' | 'messages' | 'generate' | 'embeddings'

/** Usage in plain words; each style spells it its own way. Values may be wrong on purpose. */
export interface Told {
  input: unknown
  output: unknown
  cached?: unknown
}

export interface Style {
  name: StyleName
  path(model: string, stream: boolean): string
  /** Added to the upstream's address in the channel. */
  basePath: string
  ask(model: string, stream: boolean): Record<string, unknown>
  /** Undefined: no usage at all. */
  answer(model: string, told: Told | undefined): Record<string, unknown>
  /** Every event with its blank line; the last one is the final event. Empty: cannot stream. */
  events(model: string, told: Told | undefined): string[]
  /** What stands in the final event only. */
  final: string
  /** Tokens as the gateway counts them: input, output. */
  counted: readonly [number, number]
}

export const good: Told = { input: 10, output: 5 }
export const goodTokens = [10, 5] as const
const prompt = 'tell me about faults'
export const words = ['Hello ', 'there.']
const said = words.join('')

const named = (event: { type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const numbered = (events: { type: string }[]): string[] =>
  events.map((event, sequence_number) => named({ ...event, sequence_number } as { type: string }))

const chatUsage = ({ input, output, cached }: Told) => ({
  prompt_tokens: input,
  completion_tokens: output,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
})

const chat: Style = {
  name: 'chat',
  path: () => '/v1/chat/completions',
  basePath: '/v1',
  ask: (model, stream) => ({
    model,
    max_tokens: 64,
    messages: [{ role: 'user', content: prompt }],
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  answer: (model, told) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
    ...(told !== undefined && { usage: chatUsage(told) }),
  }),
  events(model, told) {
    const chunk = (fields: object) =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model, ...fields })}\n\n`
    const delta = (content: object, finish_reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta: content, finish_reason }] })
    return [
      ...words.map((content) => delta({ content })),
      delta({}, 'stop'),
      ...(told === undefined ? [] : [chunk({ choices: [], usage: chatUsage(told) })]),
      'data: [DONE]\n\n',
    ]
  },
  final: '[DONE]',
  counted: [13, 3],
}

const responsesUsage = ({ input, output, cached }: Told) => ({
  input_tokens: input,
  output_tokens: output,
  ...(cached !== undefined && { input_tokens_details: { cached_tokens: cached } }),
})

const responses: Style = {
  name: 'responses',
  path: () => '/v1/responses',
  basePath: '/v1',
  ask: (model, stream) => ({
    model,
    max_output_tokens: 64,
    input: prompt,
    ...(stream && { stream }),
  }),
  answer: (model, told) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model,
    error: null,
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said, annotations: [] }],
      },
    ],
    ...(told !== undefined && { usage: responsesUsage(told) }),
  }),
  events(model, told) {
    const whole = responses.answer(model, told)
    const begun = { ...whole, status: 'in_progress', output: [], usage: null }
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const deltas = words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta }))
    const events: ({ type: string } & Record<string, unknown>)[] = [
      { type: 'response.created', response: begun },
      ...deltas,
      { type: 'response.output_text.done', ...at, text: said },
      { type: 'response.completed', response: whole },
    ]
    return numbered(events)
  },
  final: 'response.completed',
  counted: [5, 3],
}

const messagesUsage = ({ input, output, cached }: Told) => ({
  input_tokens: input,
  output_tokens: output,
  ...(cached !== undefined && { cache_read_input_tokens: cached }),
})

const messages: Style = {
  name: 'messages',
  path: () => '/v1/messages',
  basePath: '',
  ask: (model, stream) => ({
    model,
    max_tokens: 64,
    messages: [{ role: 'user', content: prompt }],
    ...(stream && { stream }),
  }),
  answer: (model, told) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: said }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    ...(told !== undefined && { usage: messagesUsage(told) }),
  }),
  events(model, told) {
    const begun = { ...messages.answer(model, undefined), content: [], stop_reason: null }
    const usage = told === undefined ? undefined : messagesUsage(told)
    const deltas = words.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    }))
    const ended = { stop_reason: 'end_turn', stop_sequence: null }
    const events: ({ type: string } & Record<string, unknown>)[] = [
      { type: 'message_start', message: { ...begun, ...(usage && { usage }) } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...deltas,
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: ended, ...(usage && { usage }) },
      { type: 'message_stop' },
    ]
    return events.map(named)
  },
  final: 'message_stop',
  counted: [13, 3],
}

const generateUsage = ({ input, output, cached }: Told) => ({
  promptTokenCount: input,
  candidatesTokenCount: output,
  ...(cached !== undefined && { cachedContentTokenCount: cached }),
})

const candidate = (text: string, more: object = {}) => ({
  content: { role: 'model', parts: [{ text }] },
  index: 0,
  ...more,
})

const generate: Style = {
  name: 'generate',
  path: (model, stream) =>
    `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  basePath: '',
  ask: () => ({
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    generationConfig: { maxOutputTokens: 64 },
  }),
  answer: (model, told) => ({
    candidates: [candidate(said, { finishReason: 'STOP' })],
    ...(told !== undefined && { usageMetadata: generateUsage(told) }),
    modelVersion: model,
    responseId: 'resp-1',
  }),
  events(model, told) {
    const event = (fields: object) =>
      `data: ${JSON.stringify({ ...fields, modelVersion: model, responseId: 'resp-1' })}\n\n`
    return [
      ...words.map((text) => event({ candidates: [candidate(text)] })),
      event({
        candidates: [candidate('', { finishReason: 'STOP' })],
        ...(told !== undefined && { usageMetadata: generateUsage(told) }),
      }),
    ]
  },
  final: '"finishReason"',
  counted: [13, 3],
}

const embeddings: Style = {
  name: 'embeddings',
  path: () => '/v1/embeddings',
  basePath: '/v1',
  ask: (model) => ({ model, input: prompt }),
  answer: (model, told) => ({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
    model,
    ...(told !== undefined && { usage: { prompt_tokens: told.input } }),
  }),
  events: () => [],
  final: '',
  counted: [5, 0],
}

export const styles: Readonly<Record<StyleName, Style>> = {
  chat,
  responses,
  messages,
  generate,
  embeddings,
}
export const streaming: readonly StyleName[] = ['chat', 'responses', 'messages', 'generate']
export const all: readonly StyleName[] = [...streaming, 'embeddings']

/** In whole nano-units, at the prices of the tests: 1.00 and 2.00 per million. */
export const costOf = (style: Style, [input, output]: readonly [number, number]): bigint =>
  BigInt(input * 1000 + (style.name === 'embeddings' ? 0 : output * 2000))
