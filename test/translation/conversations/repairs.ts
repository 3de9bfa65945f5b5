// Conversations that upstreams want in another form: ids, order, schemas, and settings that exclude
// each other.
import type { StyleName } from '../../../src/styles/common/conversation.ts'
import {
  assistant,
  type Body,
  type ConversationCase,
  call,
  failed,
  instructions,
  result,
  user,
  weather,
} from './conversation-case.ts'

const longId = `call_${'0123456789'.repeat(8)}`
const picture = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const
const report = { type: 'document', mimeType: 'application/pdf', data: 'JVBERi0xLjQK' } as const

const asked = [
  user('Weather'),
  assistant(
    'I will see.',
    call('call_1', 'weather', '{"city":"Paris"}'),
    call('call_2', 'weather', '{"city":"Rome"}'),
  ),
  user(result('call_1', 'Rain'), result('call_2', 'Sun'), 'And now?'),
]

const hasId = (id: string) => (each: Body) => JSON.stringify(each).includes(`"${id}"`)
const isResult = (each: Body): boolean =>
  each.role === 'tool' ||
  each.type === 'function_call_output' ||
  each.type === 'tool_result' ||
  each.functionResponse !== undefined

/** The list that holds the results of a body. */
const resultsIn: Record<StyleName, (body: Body) => Body[]> = {
  chat: ({ messages }) => messages,
  responses: ({ input }) => input,
  messages: ({ messages }) => messages.at(-1).content,
  generate: ({ contents }) => contents.at(-1).parts,
}

const forEach = (change: (list: Body[]) => void): NonNullable<ConversationCase['own']> =>
  Object.fromEntries(
    Object.entries(resultsIn).map(([style, list]) => [style, (body: Body) => change(list(body))]),
  )

const referring = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    place: { $ref: '#/$defs/place' },
    kind: { const: 'now' },
    note: { type: ['string', 'null'] },
    tags: { type: 'array' },
  },
  required: ['place'],
  $defs: { place: { type: 'object', properties: { city: { type: 'string' } } } },
}

export const repairCases: readonly ConversationCase[] = [
  {
    name: 'ids of calls that are long or odd',
    conversation: {
      tools: [weather],
      turns: [
        user('Weather'),
        assistant(
          call(longId, 'weather', '{"city":"Paris"}'),
          call('call:2/ä', 'weather', '{"city":"Rome"}'),
        ),
        user(result(longId, 'Rain'), result('call:2/ä', 'Sun')),
      ],
    },
  },
  {
    name: 'a call without a result',
    refusedAtHome: ['chat', 'responses', 'messages', 'generate'],
    conversation: { tools: [weather], turns: asked },
    own: forEach((list) => {
      list.splice(
        list.findIndex((each) => isResult(each) && hasId('call_2')(each)),
        1,
      )
    }),
    changes: {
      chat: ['turns'],
      responses: ['turns'],
      messages: ['turns'],
      generate: ['turns'],
    },
  },
  {
    name: 'two results of one call',
    refusedAtHome: ['chat', 'messages', 'generate'],
    conversation: { tools: [weather], turns: asked },
    own: forEach((list) => {
      const at = list.findIndex((each) => isResult(each) && hasId('call_2')(each))
      list.splice(at, 0, JSON.parse(JSON.stringify(list[at]).replace('Sun', 'Snow')))
    }),
    changes: {
      chat: ['turns'],
      responses: ['turns'],
      messages: ['turns'],
      generate: ['turns'],
    },
  },
  {
    name: 'instructions after results, and at the end',
    conversation: {
      tools: [weather],
      turns: [
        user('Weather'),
        assistant(call('call_1', 'weather', '{"city":"Paris"}')),
        user(result('call_1', 'Rain')),
        instructions('Be quick.'),
        assistant('It rains.'),
        user('Sure?'),
        instructions('Be brief.'),
      ],
    },
    changes: { chat: ['turns'], messages: ['turns'], generate: ['turns'] },
  },
  {
    name: 'a result with an error, an image and a document',
    conversation: {
      tools: [weather],
      turns: [
        user('Weather'),
        assistant(call('call_1', 'weather', '{"city":"Paris"}')),
        user({ ...failed('call_1', 'half of it'), parts: [picture, report] } as never),
      ],
    },
    changes: {
      chat: ['result', 'isError'],
      responses: ['isError'],
      generate: ['document.name'],
    },
    refuses: { chat: 'document' },
  },
  {
    name: 'a tool with a schema of references',
    conversation: {
      tools: [{ ...weather, schema: referring }],
      turns: [user('Weather')],
      toolChoice: { mode: 'required' },
    },
  },
  {
    name: 'a tool without a description and without arguments',
    conversation: { tools: [{ name: 'ping', schema: {} }], turns: [user('Ping')] },
  },
  {
    name: 'effort and a forced tool, with a temperature',
    conversation: {
      tools: [weather],
      turns: [user('Weather')],
      toolChoice: { mode: 'tool', name: 'weather' },
      effort: 'high',
      sampling: { temperature: 0.5 },
    },
    own: {
      // Callers of this style cannot have both.
      messages: (body) => {
        body.thinking = { type: 'adaptive' }
        body.output_config = { effort: 'high' }
      },
    },
    changes: { messages: ['effort'] },
  },
  {
    name: 'effort and sampling',
    conversation: {
      turns: [user('Hm')],
      effort: 'high',
      sampling: { temperature: 0.5, topP: 0.5, topK: 3 },
    },
    own: {
      chat: (body) => {
        body.top_k = 3
      },
      messages: (body) => {
        Object.assign(body, { temperature: 0.5, top_p: 0.5, top_k: 3 })
      },
    },
    changes: { chat: ['topK'], responses: ['topK'], messages: ['temperature', 'topP', 'topK'] },
  },
  {
    name: 'more marks for the cache than an upstream takes',
    conversation: {
      system: [1, 2, 3].map((index) => ({ type: 'text', text: `Rule ${index}`, cache: {} })),
      turns: [1, 2, 3].flatMap((index) => [
        user({ type: 'text', text: `Question ${index}`, cache: {} }),
        ...(index < 3 ? [assistant('Yes')] : []),
      ]),
    },
    own: {
      responses: ({ input }) => {
        for (const { role, content } of input) {
          const mark = { mode: 'explicit' }
          if (role !== 'assistant') for (const part of content) part.prompt_cache_breakpoint = mark
        }
      },
      messages: ({ system, messages }) => {
        for (const { content } of messages) if (content.length > 1) content.length = 1
        for (const block of system) block.cache_control = { type: 'ephemeral' }
        messages[0].content[0].cache_control = { type: 'ephemeral' }
      },
    },
    changes: {
      chat: ['cache'],
      responses: ['cache'],
      messages: ['cache'],
      generate: ['cache'],
    },
  },
  {
    name: 'a document by its URL',
    conversation: {
      turns: [
        user('Sum it up', {
          type: 'document',
          mimeType: 'application/pdf',
          url: 'https://files.example/report.pdf',
        }),
      ],
    },
    refuses: { chat: 'document' },
  },
]
