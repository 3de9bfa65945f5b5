// How upstreams of each text style report the failures that tools act on, as answers and inside streams.
import { jsonReply } from '../support/upstream.ts'

export const styles = ['chat', 'responses', 'messages', 'generate'] as const
export type Style = (typeof styles)[number]

/** Only those that a style can report. */
export const failures = [
  'context',
  'both',
  'limit',
  'rate',
  'quota',
  'overloaded',
  'key',
  'content',
  'model',
  'image',
] as const
export type Failure = (typeof failures)[number]

interface Report {
  status: number
  error: object
  headers?: Record<string, string>
}

const plain = (status: number, code: string | null, message: string, type = 'x'): Report => ({
  status,
  error: { message, type, param: null, code },
})
const typed = (status: number, type: string, message: string): Report => ({
  status,
  error: { type, message },
})
const rpc = (status: number, word: string, message: string, details: object[] = []): Report => ({
  status,
  error: { code: status, message, status: word, ...(details.length > 0 && { details }) },
})

const chat: Record<Failure, Report> = {
  context: plain(
    400,
    'context_length_exceeded',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
    'invalid_request_error',
  ),
  both: plain(
    400,
    null,
    "This model's maximum context length is 8192 tokens. However, you requested 8500 tokens (8000 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
    'BadRequestError',
  ),
  limit: plain(
    400,
    'invalid_value',
    'max_tokens is too large: 500. This model supports at most 256 completion tokens, whereas you provided 500.',
    'invalid_request_error',
  ),
  rate: plain(
    429,
    'rate_limit_exceeded',
    'Rate limit reached for requests. Please try again in 6.2s.',
    'requests',
  ),
  quota: plain(
    429,
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
    'insufficient_quota',
  ),
  overloaded: plain(503, 'server_is_overloaded', 'The server is busy.', 'server_error'),
  key: plain(401, 'invalid_api_key', 'Incorrect API key provided.', 'invalid_request_error'),
  content: plain(400, 'content_filter', 'The prompt was filtered.', 'invalid_request_error'),
  model: plain(404, 'model_not_found', 'The model does not exist.', 'invalid_request_error'),
  image: plain(
    400,
    'invalid_image_format',
    'You uploaded an unsupported image.',
    'invalid_request_error',
  ),
}

const responses: Record<Failure, Report> = {
  ...chat,
  context: plain(
    400,
    'context_length_exceeded',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'invalid_request_error',
  ),
  content: plain(400, 'invalid_prompt', 'Your prompt was flagged.', 'invalid_request_error'),
}

const messages: Record<Failure, Report> = {
  context: typed(400, 'invalid_request_error', 'prompt is too long: 9000 tokens > 8192 maximum'),
  both: typed(
    400,
    'invalid_request_error',
    'input length and `max_tokens` exceed context limit: 8000 + 500 > 8192, decrease input length or `max_tokens` and try again',
  ),
  limit: typed(
    400,
    'invalid_request_error',
    'max_tokens: 500 > 256, which is the maximum allowed number of output tokens for this model',
  ),
  rate: {
    ...typed(429, 'rate_limit_error', 'This request would exceed your rate limit.'),
    headers: { 'retry-after': '7' },
  },
  quota: typed(400, 'invalid_request_error', 'Your credit balance is too low.'),
  overloaded: typed(529, 'overloaded_error', 'Overloaded'),
  key: typed(401, 'authentication_error', 'invalid x-api-key'),
  content: typed(
    400,
    'invalid_request_error',
    'Output blocked by content filtering policy: content_filter',
  ),
  model: typed(404, 'not_found_error', 'model: the model was not found'),
  image: typed(400, 'invalid_request_error', 'Could not process image'),
}

const generate: Record<Failure, Report> = {
  context: rpc(
    400,
    'INVALID_ARGUMENT',
    'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
  ),
  // This style has no words of its own for it.
  both: chat.both,
  limit: rpc(
    400,
    'INVALID_ARGUMENT',
    'Unable to submit request because it has a maxOutputTokens value of 500 but the supported range is from 1 (inclusive) to 257 (exclusive).',
  ),
  rate: rpc(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for requests per minute.', [
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '6.5s' },
  ]),
  quota: rpc(429, 'RESOURCE_EXHAUSTED', 'The account is in arrearage.'),
  overloaded: rpc(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  key: rpc(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }]),
  content: rpc(400, 'INVALID_ARGUMENT', 'Blocked.', [{ reason: 'PROHIBITED_CONTENT' }]),
  model: rpc(404, 'NOT_FOUND', 'models/up is not found for this version; the model does not exist'),
  image: rpc(400, 'INVALID_ARGUMENT', 'Unable to process input image.'),
}

const reports: Record<Style, Record<Failure, Report>> = { chat, responses, messages, generate }

const named = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const unnamed = (data: object): string => `data: ${JSON.stringify(data)}\n\n`

const chunk = (delta: object): string =>
  unnamed({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })
const response = { id: 'resp_up', object: 'response', status: 'in_progress', output: [] }
const item = {
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content: [],
}

/** The first events of a stream, and a piece of text after them. */
const begun: Record<Style, [begin: string, text: string]> = {
  chat: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' })],
  responses: [
    named({ type: 'response.created', response }),
    named({ type: 'response.output_item.added', output_index: 0, item }) +
      named({
        type: 'response.output_text.delta',
        item_id: 'msg_up',
        output_index: 0,
        content_index: 0,
        delta: 'Hel',
      }),
  ],
  messages: [
    named({
      type: 'message_start',
      message: { id: 'm', usage: { input_tokens: 5, output_tokens: 1 } },
    }),
    named({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }) +
      named({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Hel' },
      }),
  ],
  generate: ['', unnamed({ candidates: [{ index: 0, content: { parts: [{ text: 'Hel' }] } }] })],
}

const failedEvent: Record<Style, (error: object) => string> = {
  chat: (error) => unnamed({ error }),
  responses: (error) =>
    named({ type: 'response.failed', response: { ...response, status: 'failed', error } }),
  messages: (error) => named({ type: 'error', error }),
  generate: (error) => unnamed({ error }),
}

/** `status`: as an HTTP error; `first`: as the first word of a stream; `midway`: after some text. */
export type Mode = 'status' | 'first' | 'midway'

export function failingReply(style: Style, failure: Failure, mode: Mode): Response {
  const { status, error, headers } = reports[style][failure]
  if (mode === 'status') {
    const body = style === 'messages' ? { type: 'error', error } : { error }
    return jsonReply(body, { status, ...(headers && { headers }) })
  }
  const [begin, text] = begun[style]
  const stream = begin + (mode === 'midway' ? text : '') + failedEvent[style](error)
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}
