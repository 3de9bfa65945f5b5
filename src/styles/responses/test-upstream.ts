// Streams and whole answers as upstreams of the responses style send them.
import type { Json } from '../common/conversation.ts'

export const upstreamUsage: Json = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 140,
}

export const reasoningItem: Json = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'First thought.' },
    { type: 'summary_text', text: 'Second thought.' },
  ],
  encrypted_content: 'sealed==',
}
export const messageItem: Json = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [
    {
      type: 'output_text',
      text: 'Hello, wörld',
      annotations: [
        {
          type: 'url_citation',
          url: 'https://a.example',
          title: 'A',
          start_index: 0,
          end_index: 5,
        },
      ],
    },
  ],
}
export const callItem = (id: string, name: string, args: string): Json => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: args,
})
export const customItem: Json = {
  id: 'ctc_1',
  type: 'custom_tool_call',
  call_id: 'c9',
  name: 'apply_patch',
  input: '*** Begin Patch\n',
}

export const answerOf = (output: readonly Json[], fields: Json = {}): Json => ({
  id: 'resp_up',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage: upstreamUsage,
  ...fields,
})

const halves = (text: string): string[] => {
  const at = Math.ceil(text.length / 2)
  return [text.slice(0, at), text.slice(at)].filter((each) => each !== '')
}

function contentEvents(item: Json, at: Json): Json[] {
  const lists: [string, string, string, readonly Json[]][] = [
    ['output_text', 'content_index', 'text', (item['content'] ?? []) as Json[]],
    ['reasoning_summary_text', 'summary_index', 'text', (item['summary'] ?? []) as Json[]],
  ]
  const parts = lists.flatMap(([name, index, field, list]) =>
    list.flatMap((part, number) => {
      const isRefusal = part['type'] === 'refusal'
      const [type, key] = isRefusal ? ['refusal', 'refusal'] : [name, field]
      const text = String(part[key])
      const place = { ...at, [index]: number }
      return [
        ...halves(text).map((delta) => ({ type: `response.${type}.delta`, ...place, delta })),
        ...((part['annotations'] ?? []) as Json[]).map((annotation) => ({
          type: 'response.output_text.annotation.added',
          ...place,
          annotation,
        })),
        { type: `response.${type}.done`, ...place, [key]: text },
      ]
    }),
  )
  const [name, field] =
    item['type'] === 'function_call'
      ? ['function_call_arguments', 'arguments']
      : ['custom_tool_call_input', 'input']
  const input = item[field]
  if (typeof input !== 'string') return parts
  return [
    ...halves(input).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
    { type: `response.${name}.done`, ...at, [field]: input },
  ]
}

/** An item as it is announced. */
export const bare = (item: Json): Json => ({
  ...item,
  ...(item['content'] !== undefined && { content: [] }),
  ...(item['summary'] !== undefined && { summary: [] }),
  ...(item['arguments'] !== undefined && { arguments: '' }),
  ...(item['input'] !== undefined && { input: '' }),
})

/** Events of one item after the other. */
export const itemEvents = (item: Json, output_index: number): Json[] => [
  { type: 'response.output_item.added', output_index, item: bare(item) },
  ...contentEvents(item, { output_index, item_id: item['id'] }),
  { type: 'response.output_item.done', output_index, item },
]

export function streamOf(answer: Json): Json[] {
  const output = answer['output'] as Json[]
  const begun = { ...answer, status: 'in_progress', output: [], usage: null }
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(itemEvents),
    { type: `response.${answer['status']}`, response: answer },
  ]
}
