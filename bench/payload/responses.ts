// A responses call as JSON and as typed, numbered events; the last one repeats the whole response.

import {
  createdAt,
  deltaCount,
  inputTokens,
  type Mode,
  namedEvent,
  outputTokens,
  type Payload,
  prompt,
  reply,
  tokensPerCall,
  wordStart,
  words,
} from './shape.ts'

const itemId = 'msg_bench'
/** created, in_progress, item added, part added; deltas; text, part and item done; completed. */
const lastNumber = 4 + deltaCount + 3

export const responses: Payload = {
  pathOf: () => '/v1/responses',
  model: 'txta-plus',
  headers: {},
  requestBody(mode, model = responses.model) {
    const input = [{ role: 'user', content: [{ type: 'input_text', text: prompt }] }]
    const fields = { model, input, max_output_tokens: 1024 }
    return JSON.stringify(mode === 'json' ? fields : { ...fields, stream: true })
  },
  jsonAnswer: (model) => JSON.stringify(completed(model, 'json', reply)),
  usageMark: '"output_tokens"',
  stream: {
    events(model) {
      const number = steps(model).map((step, sequence_number) => ({ ...step, sequence_number }))
      return number.map(namedEvent)
    },
    deltaMark: `"delta":"${wordStart}`,
    endMark: `"sequence_number":${lastNumber}}`,
    translatedEndMark: `"total_tokens":${tokensPerCall('stream')}}`,
  },
}

function steps(model: string): ({ type: string } & Record<string, unknown>)[] {
  const begun = response(model, 'in_progress', [])
  const text = words.join('')
  const at = { item_id: itemId, output_index: 0, content_index: 0 }
  const item = message('in_progress', [])
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...at, part: part('') },
    ...words.map((delta) => ({
      type: 'response.output_text.delta',
      ...at,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: finished(text) },
    { type: 'response.completed', response: completed(model, 'stream', text) },
  ]
}

const part = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text })

const message = (status: string, content: object[]) => ({
  id: itemId,
  type: 'message',
  status,
  role: 'assistant',
  content,
})

const finished = (text: string) => message('completed', [part(text)])

const completed = (model: string, mode: Mode, text: string) => ({
  ...response(model, 'completed', [finished(text)]),
  completed_at: createdAt + 2,
  usage: {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: outputTokens[mode],
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokensPerCall(mode),
  },
})

/** Upstreams of this style send back every setting, asked for or not. */
const response = (model: string, status: string, output: object[]) => ({
  id: 'resp_bench',
  object: 'response',
  created_at: createdAt,
  status,
  completed_at: null as number | null,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: 1024,
  max_tool_calls: null,
  model,
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null as object | null,
  user: null,
  metadata: {},
})
