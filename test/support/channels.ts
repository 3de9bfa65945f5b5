// Many upstreams behind one address, one for each channel of a gateway: what each answers is told by
// the test, and what each was asked is counted.
import {
  type Captured,
  completion,
  jsonReply,
  startUpstream,
  type TestUpstream,
} from './upstream.ts'

export const styles = ['chat', 'responses', 'messages', 'embeddings'] as const
export type Style = (typeof styles)[number]

export interface Asked extends Captured {
  channel: string
  style: Style
  stream: boolean
  model: string
  key: string
}

export type Reply = (asked: Asked) => Response | Promise<Response>

export interface Upstreams {
  url: string
  /** From now on; a channel nobody spoke of answers well. */
  on(channel: string, reply: Reply): void
  asked(channel: string): Asked[]
  /** The declaration of a channel whose upstream is here. */
  channel(name: string, models: readonly string[], more?: object): object
  stop: TestUpstream['stop']
}

export function startUpstreams(): Upstreams {
  const replies = new Map<string, Reply>()
  const calls: Asked[] = []
  const upstream = startUpstream((call) => {
    const asked = read(call)
    calls.push(asked)
    return (replies.get(asked.channel) ?? good)(asked)
  })
  return {
    url: upstream.url,
    on: (channel, reply) => {
      replies.set(channel, reply)
    },
    asked: (channel) => calls.filter((call) => call.channel === channel),
    channel: (name, models, more) => channelAt(`${upstream.url}/${name}`, name, models, more),
    stop: upstream.stop,
  }
}

export const keyOf = (channel: string): string => `upk-${channel}-0123456789abcdef`

export const channelAt = (
  url: string,
  name: string,
  models: readonly string[],
  more: object = {},
): object => ({
  name,
  keys: [keyOf(name)],
  protocols: {
    chat: `${url}/v1`,
    responses: `${url}/v1`,
    embeddings: `${url}/v1`,
    messages: url,
  },
  models: Object.fromEntries(models.map((model) => [model, '*'])),
  ...more,
})

function read(call: Captured): Asked {
  const [, channel = '', ...rest] = call.path.split('/')
  const last = rest.at(-1) === 'completions' ? 'chat' : rest.at(-1)
  const { stream, model } = JSON.parse(call.body) as { stream?: boolean; model: string }
  return {
    ...call,
    channel,
    style: styles.find((style) => style === last) ?? 'chat',
    stream: stream === true,
    model,
    key: (call.headers.get('authorization') ?? '').replace('Bearer ', ''),
  }
}

/** Ten tokens of input, five of output. */
export function good({ style, stream, model }: Asked): Response {
  if (!stream) return jsonReply(answers[style](model))
  return new Response(streams[style](model), { headers: { 'content-type': 'text/event-stream' } })
}

const answers: Record<Style, (model: string) => object> = {
  chat: (model) => completion({ prompt_tokens: 10, completion_tokens: 5 }, model),
  responses: (model) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model,
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello there.', annotations: [] }],
      },
    ],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }),
  messages: (model) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'Hello there.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  embeddings: (model) => ({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
    model,
    usage: { prompt_tokens: 10, total_tokens: 10 },
  }),
}

type NamedEvent = { type: string } & Record<string, unknown>

const named = (events: readonly NamedEvent[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const chunk = (model: string, fields: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, ...fields })}\n\n`

const streams: Record<Style, (model: string) => string> = {
  chat: (model) =>
    [
      chunk(model, { choices: [{ index: 0, delta: { content: 'Hello there.' } }] }),
      chunk(model, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      chunk(model, { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } }),
      'data: [DONE]\n\n',
    ].join(''),
  responses: (model) => {
    const response = answers.responses(model)
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    return named([
      { type: 'response.created', response: begun },
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hello there.' },
      { type: 'response.completed', response },
    ])
  },
  messages: (model) =>
    named([
      { type: 'message_start', message: { ...answers.messages(model), content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Hello there.' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]),
  embeddings: () => '',
}

const lastOf: Record<Style, string> = {
  chat: 'data: [DONE]',
  responses: '"type":"response.completed"',
  messages: '"type":"message_stop"',
  embeddings: '',
}

/** Whether a caller of that style got all of the answer above. */
export const isWhole = (style: Style, stream: boolean, text: string): boolean =>
  text.includes(style === 'embeddings' ? '"embedding":[0.5,-0.5]' : 'Hello there.') &&
  (!stream || text.includes(lastOf[style]))

export const pathOf: Readonly<Record<Style, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
}

const messages = [{ role: 'user', content: 'hello' }]

/** The smallest request of that style. */
export const requestOf = (style: Style, model: string, stream: boolean): object => {
  if (style === 'embeddings') return { model, input: 'hello' }
  const asks = style === 'responses' ? { input: 'hello' } : { messages }
  return { model, stream, ...asks, ...(style === 'messages' && { max_tokens: 16 }) }
}
