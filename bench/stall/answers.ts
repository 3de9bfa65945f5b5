// Answers of upstreams that are large or hard to read: one of each shape that is expensive for some reader,
// and the models whose upstreams give them. Refuses to know how they are asked for.

type Wire = 'chat' | 'responses' | 'messages' | 'generate'

export interface LargeAnswer {
  wire: Wire
  /** Absent: 200, JSON. */
  status?: number
  type?: string
  body(): string
}

const megabyte = 1024 * 1024
const filled = (piece: string, bytes: number): string =>
  piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)))
const base64 = (bytes: number): string => filled('iVBORw0KGgoAAAAN', bytes)
const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}'

/** `content` as JSON, and fields of the choice besides. */
const chat = (content: string, more = '', message = ''): string =>
  '{"id":"bench","object":"chat.completion","model":"another-name","choices":[{"index":0,' +
  `"message":{"role":"assistant","content":${content}${message}},"finish_reason":"stop"${more}}],${usage}}`

const event = (delta: string): string =>
  `data: {"id":"bench","object":"chat.completion.chunk","model":"another-name","choices":[{"index":0,"delta":${delta},"finish_reason":null}]}\n\n`
const lastEvents = `data: {"id":"bench","object":"chat.completion.chunk","model":"another-name","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],${usage}}\n\ndata: [DONE]\n\n`

const logprob =
  '{"token":"a","logprob":-0.1,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-0.1,"bytes":[97]},{"token":"b","logprob":-2.5,"bytes":[98]}]},'

const response = (output: string): string =>
  `{"id":"resp_bench","object":"response","status":"completed","model":"another-name","output":[${output}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`

const item = (text: string): string =>
  `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":${text},"annotations":[]}]}`

const message = (content: string): string =>
  `{"id":"msg_bench","type":"message","role":"assistant","model":"another-name","content":[${content}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`

const generated = (parts: string): string =>
  `{"candidates":[{"content":{"role":"model","parts":[${parts}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"another-name"}`

const part = (text: string): string => `{"text":${text}}`

const largeAnswers: Readonly<Record<string, LargeAnswer>> = {
  'base64 in chat': { wire: 'chat', body: () => chat(`"${base64(8 * megabyte)}"`) },
  'Chinese in chat': { wire: 'chat', body: () => chat(`"${filled('你好世界', 8 * megabyte)}"`) },
  'escapes in chat': { wire: 'chat', body: () => chat(`"${filled('\\n\\"', 4 * megabyte)}"`) },
  'digits in chat': { wire: 'chat', body: () => chat(`"${filled('1234567890', 8 * megabyte)}"`) },
  'logprobs in chat': {
    wire: 'chat',
    body: () => chat('"a"', `,"logprobs":{"content":[${filled(logprob, 4 * megabyte)}null]}`),
  },
  'calls in chat': {
    wire: 'chat',
    body: () =>
      chat(
        'null',
        '',
        `,"tool_calls":[${Array.from({ length: 10_000 }, (_, i) => `{"id":"c${i}","type":"function","function":{"name":"f","arguments":"{\\"a\\":${i}}"}}`)}]`,
      ),
  },
  'arguments in chat': {
    wire: 'chat',
    body: () =>
      chat(
        'null',
        '',
        `,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"a\\":[${filled('{},', megabyte)}0]}"}}]`,
      ),
  },
  'deep lists in chat': {
    wire: 'chat',
    body: () => chat('"a"', `,"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  },
  'an error in chat': {
    wire: 'chat',
    status: 400,
    body: () =>
      `{"error":{"message":"${filled('https://h1.svc.internal/a sk-abcdefghijkl ', megabyte)}"}}`,
  },
  'large events in chat': {
    wire: 'chat',
    type: 'text/event-stream',
    body: () => event(`{"content":"${base64(2 * megabyte)}"}`).repeat(4) + lastEvents,
  },
  'many events in chat': {
    wire: 'chat',
    type: 'text/event-stream',
    body: () => event('{"content":"and so on"}').repeat(40_000) + lastEvents,
  },
  'base64 in responses': {
    wire: 'responses',
    body: () =>
      response(
        `{"type":"image_generation_call","id":"ig_1","status":"completed","result":"${base64(8 * megabyte)}"},${item('"a"')}`,
      ),
  },
  'text in responses': {
    wire: 'responses',
    body: () => response(item(`"${filled('a line of text\\n', 8 * megabyte)}"`)),
  },
  'items in responses': {
    wire: 'responses',
    body: () => response(Array.from({ length: 10_000 }, () => item('"a"')).join(',')),
  },
  'text in messages': {
    wire: 'messages',
    body: () => message(`{"type":"text","text":"${filled('a line of text\\n', 8 * megabyte)}"}`),
  },
  'blocks in messages': {
    wire: 'messages',
    body: () => message(filled('{"type":"text","text":"a"},', megabyte).slice(0, -1)),
  },
  'base64 in generate': {
    wire: 'generate',
    body: () =>
      generated(
        `{"inlineData":{"mimeType":"image/png","data":"${base64(8 * megabyte)}"}},${part('"a"')}`,
      ),
  },
  'parts in generate': {
    wire: 'generate',
    body: () => generated(filled(`${part('"a"')},`, megabyte).slice(0, -1)),
  },
}

const names = Object.keys(largeAnswers)

/** The upstream of each answers under a path of its own. */
export const answerModels = names.map((name, index) => ({
  name,
  wire: largeAnswers[name]!.wire,
  model: `bench-answer-${index}`,
  under: `/answers/${index}`,
}))

/** The answer under a path, if any. */
export const answerUnder = (path: string): LargeAnswer | undefined => {
  const index = /^\/answers\/(\d+)\//.exec(path)?.[1]
  return index === undefined ? undefined : largeAnswers[names[Number(index)]!]
}
