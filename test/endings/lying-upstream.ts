// An upstream of all four text styles, and of Converse, that ends its answers as it is told: with any finish word, any input
// of a tool, any usage. The case is named in the caller's prompt.

import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { converseAnswer, converseError, converseFrames } from './lying-converse.ts'

export const styles = ['chat', 'responses', 'messages', 'generate'] as const
export type StyleName = (typeof styles)[number]
/** What an upstream speaks. */
export const wires = [...styles, 'converse'] as const
export type WireName = (typeof wires)[number]

export interface ToldUsage {
  input: number
  output: number
  reasoning?: number
  cached?: number
}

export interface Ending {
  texts: readonly string[]
  thought?: string
  tool?: { name: string; args: string }
  /** Something that another style has no place for, or that is no part of any. */
  extra?: 'block' | 'choice' | 'garbage' | 'comment'
  /** Left out: the style's usual word. Null: none. */
  finish?: string | null
  usage?: ToldUsage
  /** `late_error`: behind the usage. */
  end?: 'whole' | 'error' | 'late_error' | 'cut'
}

type Json = Record<string, unknown>

type Event = string | Uint8Array

interface Form {
  answer(ending: Ending): Json
  events(ending: Ending): Event[]
  error: Event
  type?: string
}

const line = (data: unknown): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const named = (data: Json): string => `event: ${data['type']}\n${line(data)}`
const garbage = 'data: {"broken\n\n'
const comment = ': still here\n\n'

/** As an upstream gives it where it has to be a value. */
function parsedArgs(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

const finishOf = ({ finish, tool }: Ending, end: string, calls: string) =>
  finish === undefined ? (tool === undefined ? end : calls) : finish

const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

const chatUsage = ({ input, output, reasoning, cached }: ToldUsage): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
  ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
})

const chat: Form = {
  error: line({ error: { message: 'it broke', type: 'server_error' } }),
  answer(ending) {
    const { texts, thought, tool, extra, usage } = ending
    const message = {
      role: 'assistant',
      content: texts.join(''),
      ...(thought && { reasoning_content: thought }),
      ...(tool && {
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: tool.name, arguments: tool.args } },
        ],
      }),
    }
    const choice = { index: 0, message, finish_reason: finishOf(ending, 'stop', 'tool_calls') }
    const other = { ...choice, index: 1 }
    return {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: extra === 'choice' ? [choice, other] : [choice],
      ...(usage && { usage: chatUsage(usage) }),
    }
  },
  events(ending) {
    const { texts, thought, tool, extra, usage } = ending
    const chunk = (more: Json) =>
      line({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'up', ...more })
    const delta = (fields: Json, index = 0, finish_reason: unknown = null) =>
      chunk({ choices: [{ index, delta: fields, finish_reason }] })
    const call = (fields: Json) => delta({ tool_calls: [{ index: 0, ...fields }] })
    return [
      ...(thought ? [delta({ reasoning_content: thought })] : []),
      ...texts.map((content) => delta({ content })),
      ...(extra === 'choice' ? [delta({ content: 'other' }, 1)] : []),
      ...(tool
        ? [
            call({ id: 'call_1', type: 'function', function: { name: tool.name, arguments: '' } }),
            ...halves(tool.args).map((part) => call({ function: { arguments: part } })),
          ]
        : []),
      delta({}, 0, finishOf(ending, 'stop', 'tool_calls')),
      ...(usage ? [chunk({ choices: [], usage: chatUsage(usage) })] : []),
      line('[DONE]'),
    ]
  },
}

const responsesUsage = ({ input, output, reasoning, cached }: ToldUsage): Json => ({
  input_tokens: input,
  output_tokens: output,
  ...(cached !== undefined && { input_tokens_details: { cached_tokens: cached } }),
  ...(reasoning !== undefined && { output_tokens_details: { reasoning_tokens: reasoning } }),
})

function responsesItems({ texts, thought, tool, extra }: Ending): Json[] {
  const text = texts.join('')
  const content = [{ type: 'output_text', text, annotations: [] }]
  return [
    ...(thought
      ? [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thought }] }]
      : []),
    ...(text === ''
      ? []
      : [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }]),
    ...(extra === 'block' ? [{ type: 'odd_call', id: 'odd_1', status: 'completed' }] : []),
    ...(tool
      ? [
          {
            type: 'function_call',
            id: 'fc_1',
            call_id: 'call_1',
            name: tool.name,
            arguments: tool.args,
            status: 'completed',
          },
        ]
      : []),
  ]
}

const responses: Form = {
  error: named({ type: 'error', error: { message: 'it broke', code: 'server_error' } }),
  answer(ending) {
    const { finish, usage } = ending
    return {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'up',
      status: finish === undefined ? 'completed' : 'incomplete',
      error: null,
      ...(finish !== undefined && { incomplete_details: { reason: finish } }),
      output: responsesItems(ending),
      ...(usage && { usage: responsesUsage(usage) }),
    }
  },
  events(ending) {
    const { texts, thought, tool } = ending
    const response = responses.answer(ending)
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    const events: Json[] = [{ type: 'response.created', response: begun }]
    for (const [output_index, item] of responsesItems(ending).entries()) {
      const at = { item_id: item['id'], output_index }
      events.push({ type: 'response.output_item.added', output_index, item: shellOf(item) })
      if (item['type'] === 'message') {
        const type = 'response.output_text.delta'
        for (const delta of texts) events.push({ type, ...at, content_index: 0, delta })
      } else if (item['type'] === 'reasoning') {
        const type = 'response.reasoning_summary_text.delta'
        events.push({ type, ...at, summary_index: 0, delta: thought })
      } else if (tool !== undefined && item['type'] === 'function_call') {
        const type = 'response.function_call_arguments.delta'
        for (const delta of halves(tool.args)) events.push({ type, ...at, delta })
      }
      events.push({ type: 'response.output_item.done', output_index, item })
    }
    events.push({ type: `response.${response['status']}`, response })
    return events.map((event, sequence_number) => named({ ...event, sequence_number }))
  },
}

const shellOf = (item: Json): Json => ({
  ...item,
  status: 'in_progress',
  ...('content' in item && { content: [] }),
  ...('summary' in item && { summary: [] }),
  ...('arguments' in item && { arguments: '' }),
})

const messagesUsage = ({ input, output, reasoning, cached }: ToldUsage): Json => ({
  input_tokens: input - (cached ?? 0),
  output_tokens: output,
  ...(cached !== undefined && { cache_read_input_tokens: cached }),
  ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
})

function messagesBlocks({ texts, thought, tool, extra }: Ending): Json[] {
  const text = texts.join('')
  return [
    ...(thought ? [{ type: 'thinking', thinking: thought, signature: 'c2ln' }] : []),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...(extra === 'block' ? [{ type: 'odd_block', id: 'odd_1' }] : []),
    ...(tool
      ? [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input: parsedArgs(tool.args) }]
      : []),
  ]
}

const messages: Form = {
  error: named({ type: 'error', error: { type: 'api_error', message: 'it broke' } }),
  answer: (ending) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: messagesBlocks(ending),
    stop_reason: finishOf(ending, 'end_turn', 'tool_use'),
    stop_sequence: null,
    ...(ending.usage && { usage: messagesUsage(ending.usage) }),
  }),
  events(ending) {
    const { texts, thought, tool, usage } = ending
    const message = { ...messages.answer(ending), content: [], stop_reason: null }
    const first = usage && { ...messagesUsage(usage), output_tokens: 1 }
    const events: Json[] = [{ type: 'message_start', message: { ...message, usage: first } }]
    for (const [index, block] of messagesBlocks(ending).entries()) {
      const delta = (fields: Json) =>
        events.push({ type: 'content_block_delta', index, delta: fields })
      const start = { ...block, ...startOf[String(block['type'])] }
      events.push({ type: 'content_block_start', index, content_block: start })
      if (block['type'] === 'text') for (const text of texts) delta({ type: 'text_delta', text })
      if (block['type'] === 'thinking') delta({ type: 'thinking_delta', thinking: thought })
      if (tool !== undefined && block['type'] === 'tool_use') {
        for (const part of halves(tool.args)) {
          delta({ type: 'input_json_delta', partial_json: part })
        }
      }
      events.push({ type: 'content_block_stop', index })
    }
    const stop_reason = finishOf(ending, 'end_turn', 'tool_use')
    const delta = { stop_reason, stop_sequence: null }
    events.push({ type: 'message_delta', delta, ...(usage && { usage: messagesUsage(usage) }) })
    events.push({ type: 'message_stop' })
    return events.map(named)
  },
}

const startOf: Readonly<Record<string, Json>> = {
  text: { text: '' },
  thinking: { thinking: '', signature: '' },
  tool_use: { input: {} },
}

const generateUsage = ({ input, output, reasoning, cached }: ToldUsage): Json => ({
  promptTokenCount: input,
  candidatesTokenCount: output - (reasoning ?? 0),
  totalTokenCount: input + output,
  ...(cached !== undefined && { cachedContentTokenCount: cached }),
  ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
})

function generateParts({ texts, thought, tool, extra }: Ending): Json[] {
  return [
    ...(thought ? [{ text: thought, thought: true }] : []),
    ...texts.map((text) => ({ text })),
    ...(extra === 'block' ? [{ oddPart: { data: 'x' } }] : []),
    ...(tool ? [{ functionCall: { name: tool.name, args: parsedArgs(tool.args) } }] : []),
  ]
}

const candidateOf = (parts: readonly Json[], more: Json = {}): Json => ({
  content: { role: 'model', parts },
  index: 0,
  ...more,
})

const generate: Form = {
  error: line({ error: { code: 500, message: 'it broke', status: 'INTERNAL' } }),
  answer: (ending) => ({
    candidates: [
      candidateOf(generateParts(ending), { finishReason: finishOf(ending, 'STOP', 'STOP') }),
      ...(ending.extra === 'choice' ? [candidateOf([{ text: 'other' }], { index: 1 })] : []),
    ],
    ...(ending.usage && { usageMetadata: generateUsage(ending.usage) }),
    modelVersion: 'up',
    responseId: 'g1',
  }),
  events(ending) {
    const usageMetadata = ending.usage && generateUsage(ending.usage)
    const event = (candidate: Json, more: Json = {}) =>
      line({ candidates: [candidate], modelVersion: 'up', responseId: 'g1', ...more })
    return [
      ...generateParts(ending).map((part) => event(candidateOf([part]))),
      event(
        { ...candidateOf([{ text: '' }]), finishReason: finishOf(ending, 'STOP', 'STOP') },
        usageMetadata && { usageMetadata },
      ),
    ]
  },
}

const converse: Form = {
  answer: converseAnswer,
  events: converseFrames,
  error: converseError(),
  type: 'application/vnd.amazon.eventstream',
}

const forms: Readonly<Record<WireName, Form>> = { chat, responses, messages, generate, converse }

/** A stream up to where it ends. */
function eventsOf(style: WireName, ending: Ending): Event[] {
  const { events, error } = forms[style]
  const all = events(ending)
  if (style === 'converse') {
    // Frames have a garbage of their own, and no comments.
  } else if (ending.extra === 'garbage') all.splice(all.length - 1, 0, garbage)
  else if (ending.extra === 'comment') all.splice(all.length - 1, 0, comment)
  if (ending.end === 'cut') return all.slice(0, hasBegun[style])
  if (ending.end === 'error') return [...all.slice(0, hasBegun[style]), error]
  if (ending.end === 'late_error') return [...all.slice(0, -1), error]
  return all
}

/** Events after which something has gone to the caller. */
const hasBegun: Readonly<Record<WireName, number>> = {
  chat: 1,
  responses: 3,
  messages: 3,
  generate: 1,
  converse: 3,
}

function replyOf(style: WireName, isStream: boolean, ending: Ending): Response {
  if (isStream) {
    const headers = { 'content-type': forms[style].type ?? 'text/event-stream' }
    const events = eventsOf(style, ending).map((each) => Buffer.from(each))
    return new Response(Buffer.concat(events), { headers })
  }
  const { end } = ending
  const body = forms[style].answer(ending)
  if (end === 'cut') return jsonReply(JSON.stringify(body).slice(0, -20))
  if (end === 'error' || end === 'late_error') {
    return jsonReply({ error: { message: 'it broke' } }, { status: 500 })
  }
  return jsonReply(body)
}

const styleOf = (path: string): WireName =>
  path.includes('enerateContent')
    ? 'generate'
    : path.includes('/converse')
      ? 'converse'
      : (styles.find((style) => path.endsWith(style)) ?? 'chat')

export const promptFor = (id: string): string => `please do case-${id}.`

export interface LyingUpstream extends TestUpstream {
  /** What the case ends with. */
  on(id: string, ending: Ending): void
  /** Where a channel reaches it, and under which name of the model. */
  protocols: Readonly<Record<WireName, Readonly<Record<string, string>>>>
}

export function startLying(): LyingUpstream {
  const endings = new Map<string, Ending>()
  const upstream = startUpstream(({ body, path }) => {
    const ending = endings.get(/case-([\w-]+)\./.exec(body)?.[1] ?? '')
    if (ending === undefined) return new Response('no such case', { status: 500 })
    const isStream = /:streamGenerateContent$|-stream$/.test(path) || /"stream":\s*true/.test(body)
    return replyOf(styleOf(path), isStream, ending)
  })
  const { url } = upstream
  return {
    ...upstream,
    on: (id, ending) => void endings.set(id, ending),
    protocols: {
      chat: { chat: `${url}/v1` },
      responses: { responses: `${url}/v1` },
      messages: { messages: url },
      generate: { generate: url },
      converse: { bedrock: url },
    },
  }
}
