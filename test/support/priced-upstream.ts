// An upstream that speaks all four text styles and reports what a test tells it to: any usage, any service tier,
// any place. A case is found by its name in the words of the caller.
import { jsonReply, startUpstream, streamReply, type TestUpstream } from './upstream.ts'

export const styles = ['chat', 'responses', 'messages', 'generate'] as const
export type Style = (typeof styles)[number]

export interface Told {
  input?: number
  output?: number
  read?: number
  /** All writes, those for an hour included. */
  written?: number
  hour?: number
  audioIn?: number
  imageIn?: number
  audioOut?: number
  imageOut?: number
  /** As the style names it; `null`: it says nothing. */
  tier?: string | null
  speed?: string
  geo?: string
  iterations?: unknown
  /** What it writes; absent: `hi`. */
  text?: string
  /** A whole answer, although a stream was asked for. */
  whole?: true
  /** More fields of the usage. */
  more?: object
}

type Json = Record<string, unknown>

const detailsOf = (told: Told, side: 'In' | 'Out'): Json => ({
  ...(told[`audio${side}`] !== undefined && { audio_tokens: told[`audio${side}`] }),
  ...(told[`image${side}`] !== undefined && { image_tokens: told[`image${side}`] }),
})

const usages: Readonly<Record<Style, (told: Told) => Json>> = {
  chat: (told) => ({
    prompt_tokens: told.input ?? 0,
    completion_tokens: told.output ?? 0,
    prompt_tokens_details: {
      cached_tokens: told.read ?? 0,
      cache_write_tokens: told.written ?? 0,
      ...(told.hour !== undefined && { cache_creation: { ephemeral_1h_input_tokens: told.hour } }),
      ...detailsOf(told, 'In'),
    },
    completion_tokens_details: { reasoning_tokens: 0, ...detailsOf(told, 'Out') },
    ...told.more,
  }),
  responses: (told) => ({
    input_tokens: told.input ?? 0,
    output_tokens: told.output ?? 0,
    total_tokens: (told.input ?? 0) + (told.output ?? 0),
    input_tokens_details: {
      cached_tokens: told.read ?? 0,
      cache_write_tokens: told.written ?? 0,
      ...(told.hour !== undefined && { cache_creation: { ephemeral_1h_input_tokens: told.hour } }),
      ...detailsOf(told, 'In'),
    },
    output_tokens_details: { reasoning_tokens: 0, ...detailsOf(told, 'Out') },
    ...told.more,
  }),
  messages: (told) => {
    const { read = 0, written = 0, hour = 0 } = told
    return {
      input_tokens: (told.input ?? 0) - read - written,
      output_tokens: told.output ?? 0,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: {
        ephemeral_5m_input_tokens: written - hour,
        ephemeral_1h_input_tokens: hour,
      },
      ...(told.tier != null && { service_tier: told.tier }),
      ...(told.speed !== undefined && { speed: told.speed }),
      ...(told.geo !== undefined && { inference_geo: told.geo }),
      ...(told.iterations !== undefined && { iterations: told.iterations }),
      ...told.more,
    }
  },
  generate: (told) => {
    const list = (audio = 0, image = 0) => [
      { modality: 'VIDEO', tokenCount: 0 },
      { modality: 'AUDIO', tokenCount: audio },
      { modality: 'IMAGE', tokenCount: image },
    ]
    return {
      promptTokenCount: told.input ?? 0,
      candidatesTokenCount: told.output ?? 0,
      totalTokenCount: (told.input ?? 0) + (told.output ?? 0),
      cachedContentTokenCount: told.read ?? 0,
      promptTokensDetails: list(told.audioIn, told.imageIn),
      candidatesTokensDetails: list(told.audioOut, told.imageOut),
      ...told.more,
    }
  },
}

const named = (type: string, data: Json): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
const bare = (data: unknown): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const textOf = ({ text = 'hi' }: Told): string => text

const tierOf = ({ tier }: Told): Json => (tier == null ? {} : { service_tier: tier })

function replyIn(style: Style, told: Told, stream: boolean): Response {
  const usage = usages[style](told)
  const made = writers[style](usage, told, stream && told.whole !== true)
  const headers: Record<string, string> =
    style === 'generate' && told.tier != null ? { 'x-gemini-service-tier': told.tier } : {}
  return Array.isArray(made) ? streamReply(made, { headers }) : jsonReply(made, { headers })
}

const head = { id: 'x', created: 1, model: 'up' }

const writers: Readonly<
  Record<Style, (usage: Json, told: Told, stream: boolean) => Json | string[]>
> = {
  chat(usage, told, stream) {
    const message = { role: 'assistant', content: textOf(told) }
    const choice = { index: 0, finish_reason: 'stop' }
    if (!stream) {
      return {
        ...head,
        object: 'chat.completion',
        choices: [{ ...choice, message }],
        usage,
        ...tierOf(told),
      }
    }
    const chunk = { ...head, object: 'chat.completion.chunk' }
    const delta = message
    return [
      bare({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }], ...tierOf(told) }),
      bare({ ...chunk, choices: [{ ...choice, delta: {} }] }),
      bare({ ...chunk, choices: [], usage }),
      bare('[DONE]'),
    ]
  },
  responses(usage, told, stream) {
    const text = textOf(told)
    const part = { type: 'output_text', text, annotations: [] }
    const item = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [part],
    }
    const response = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'up',
      output: [item],
      usage,
      ...tierOf(told),
    }
    if (!stream) return response
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const begun = {
      ...response,
      status: 'in_progress',
      output: [],
      usage: null,
      service_tier: 'auto',
    }
    return [
      named('response.created', { response: begun }),
      named('response.output_item.added', { output_index: 0, item: { ...item, content: [] } }),
      named('response.content_part.added', { ...at, part: { ...part, text: '' } }),
      named('response.output_text.delta', { ...at, delta: text }),
      named('response.output_text.done', { ...at, text }),
      named('response.content_part.done', { ...at, part }),
      named('response.output_item.done', { output_index: 0, item }),
      named('response.completed', { response }),
    ]
  },
  messages(usage, told, stream) {
    const text = textOf(told)
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up' }
    const content = [{ type: 'text', text }]
    if (!stream) return { ...message, content, stop_reason: 'end_turn', usage }
    // The last event of a stream says less than the first.
    const { cache_creation, service_tier, speed, inference_geo, iterations, ...rest } = usage
    const first = { cache_creation, service_tier, speed, inference_geo }
    const block = { type: 'text', text: '' }
    return [
      named('message_start', {
        message: { ...message, content: [], usage: { ...rest, ...first, output_tokens: 1 } },
      }),
      named('content_block_start', { index: 0, content_block: block }),
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
      named('content_block_stop', { index: 0 }),
      named('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { ...rest, ...(iterations !== undefined && { iterations }) },
      }),
      named('message_stop', {}),
    ]
  },
  generate(usage, told, stream) {
    const content = { role: 'model', parts: [{ text: textOf(told) }] }
    const answer = {
      candidates: [{ content, finishReason: 'STOP', index: 0 }],
      usageMetadata: usage,
      modelVersion: 'up',
    }
    return stream ? [bare(answer)] : answer
  },
}

const styleOf = (path: string): Style => {
  if (path.endsWith('/chat/completions')) return 'chat'
  if (path.endsWith('/responses')) return 'responses'
  return path.endsWith('/messages') ? 'messages' : 'generate'
}

export interface PricedUpstream extends TestUpstream {
  /** What calls with this word in their text are told. */
  tell(word: string, told: Told): void
  /** As a channel declares them. */
  protocols: Readonly<Record<Style, string>>
  /** The last request with this word. */
  sent(word: string): Json
}

export function startPricedUpstream(): PricedUpstream {
  const cases = new Map<string, Told>()
  const wordIn = (body: string) => /case-[\w-]+/.exec(body)?.[0] ?? ''
  const upstream = startUpstream(({ path, body }) => {
    const style = styleOf(path)
    const stream =
      style === 'generate' ? path.includes(':stream') : JSON.parse(body).stream === true
    return replyIn(style, cases.get(wordIn(body)) ?? { input: 1, output: 1 }, stream)
  })
  const { url, chat } = upstream
  return {
    ...upstream,
    tell: (word, told) => void cases.set(word, told),
    protocols: { chat, responses: chat, messages: url, generate: url },
    sent: (word) => JSON.parse(upstream.calls.findLast(({ body }) => wordIn(body) === word)!.body),
  }
}

/** A request of a style with these words. */
export const requests: Readonly<
  Record<Style, (model: string, text: string, stream: boolean) => { path: string; body: Json }>
> = {
  chat: (model, content, stream) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content }],
      max_tokens: 5_000,
      ...(stream && { stream }),
    },
  }),
  responses: (model, input, stream) => ({
    path: '/v1/responses',
    body: { model, input, max_output_tokens: 5_000, ...(stream && { stream }) },
  }),
  messages: (model, content, stream) => ({
    path: '/v1/messages',
    body: {
      model,
      messages: [{ role: 'user', content }],
      max_tokens: 5_000,
      ...(stream && { stream }),
    },
  }),
  generate: (model, text, stream) => ({
    path: `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { maxOutputTokens: 5_000 },
    },
  }),
}
