// Settings of a call: sampling, limits, output formats, effort, cache marks, and fields of no meaning.
import type { Conversation, StyleName } from '../../../src/styles/common/conversation.ts'
import { assistant, type ConversationCase, citySchema, user, weather } from './conversation-case.ts'

const marked = (value: string, ttl?: string) => ({
  type: 'text' as const,
  text: value,
  cache: ttl === undefined ? {} : { ttl },
})

const ask = (fields: Partial<Conversation>): Partial<Conversation> => ({
  turns: [user('Hm')],
  ...fields,
})

const styleNames: readonly StyleName[] = ['chat', 'responses', 'messages', 'generate']
const forAll = <Value>(value: Value): Record<StyleName, Value> =>
  Object.fromEntries(styleNames.map((name) => [name, value])) as Record<StyleName, Value>

const looseSchema = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 1, maximum: 9 },
    tag: { type: ['string', 'null'], pattern: '^a' },
  },
  required: ['count'],
}

export const settingCases: readonly ConversationCase[] = [
  {
    name: 'sampling',
    conversation: ask({
      sampling: {
        temperature: 1.5,
        topP: 0.9,
        topK: 40,
        presencePenalty: 0.5,
        frequencyPenalty: -0.5,
        seed: 7,
      },
    }),
    own: {
      chat: (body) => {
        body.top_k = 40
      },
    },
    changes: {
      chat: ['topK'],
      responses: ['topK', 'presencePenalty', 'frequencyPenalty', 'seed'],
      messages: ['temperature', 'presencePenalty', 'frequencyPenalty', 'seed'],
    },
  },
  {
    name: 'stop sequences',
    conversation: ask({ stop: ['END', '\n\n'] }),
    changes: { messages: ['stop'] },
    refuses: { responses: 'stop' },
  },
  {
    name: 'no limit of the output',
    conversation: ask({ system: [{ type: 'text', text: 'Be brief.' }] }),
  },
  {
    name: 'an answer that the limit cuts off',
    conversation: { turns: [user('Count to ten [[sim:tokens=60]]')], maxOutputTokens: 20 },
  },
  {
    name: 'a limit below the smallest of some upstreams',
    conversation: { turns: [user('Hm')] },
    own: {
      chat: (body) => {
        body.max_completion_tokens = 5
      },
      messages: (body) => {
        body.max_tokens = 5
      },
      generate: (body) => {
        body.generationConfig = { maxOutputTokens: 5 }
      },
    },
    changes: { responses: ['maxOutputTokens'] },
  },
  {
    name: 'a strict schema for the output',
    conversation: ask({
      format: {
        kind: 'schema',
        schema: citySchema,
        name: 'place',
        description: 'A place.',
        strict: true,
      },
    }),
  },
  {
    name: 'a schema that not every upstream can enforce',
    conversation: ask({
      format: { kind: 'schema', schema: looseSchema, name: 'thing', strict: true },
    }),
    own: {
      chat: ({ response_format: format }) => {
        format.json_schema.strict = true
        format.json_schema.schema = looseSchema
      },
      responses: ({ text }) => {
        text.format.strict = true
      },
      messages: ({ output_config: config }) => {
        config.format.schema = looseSchema
      },
    },
    changes: { chat: ['format'], responses: ['format'], messages: ['format'] },
  },
  {
    name: 'JSON of any shape',
    conversation: ask({ format: { kind: 'json' } }),
    changes: { messages: ['format'] },
  },
  {
    name: 'a large effort',
    conversation: ask({ effort: 'xhigh' }),
    changes: { generate: ['effort'] },
  },
  {
    name: 'a small effort',
    conversation: ask({ effort: 'minimal' }),
    changes: { messages: ['effort'] },
  },
  {
    name: 'no effort',
    conversation: ask({ effort: 'none' }),
    own: {
      generate: (body) => {
        body.generationConfig.thinkingConfig = { thinkingBudget: 0 }
      },
    },
    changes: { generate: ['effort'] },
  },
  {
    name: 'a budget for reasoning',
    refusedAtHome: ['chat'],
    conversation: ask({ maxOutputTokens: 4_000 }),
    own: {
      chat: (body) => {
        body.thinking = { type: 'enabled', budget_tokens: 3_000 }
      },
      messages: (body) => {
        body.thinking = { type: 'enabled', budget_tokens: 3_000 }
      },
      generate: (body) => {
        body.generationConfig.thinkingConfig = { thinkingBudget: 3_000 }
      },
    },
    changes: forAll(['effort']),
  },
  {
    name: 'marks for the cache',
    conversation: {
      system: [marked('Be brief.', '1h')],
      tools: [{ ...weather, cache: {} }],
      turns: [user(marked('Long text')), assistant('Hi'), user(marked('Go on'))],
    },
    changes: { chat: ['cache'], responses: ['cache'], generate: ['cache'] },
  },
  {
    name: 'reasoning of an earlier turn that no upstream here made',
    conversation: {
      turns: [
        user('Think'),
        assistant(
          {
            type: 'reasoning',
            text: 'Hm, let me see.',
            seal: { realm: 'realm up.example', data: 'c2VhbA==' },
          },
          'Done.',
        ),
        user('Go on'),
      ],
    },
    changes: forAll(['reasoning']),
    // Not sealed by them.
    strippedAtHome: ['responses', 'messages', 'generate'],
  },
  {
    name: 'probabilities of tokens',
    conversation: ask({}),
    own: {
      chat: (body) => {
        Object.assign(body, { logprobs: true, top_logprobs: 2 })
      },
      responses: (body) => {
        Object.assign(body, { top_logprobs: 2 })
      },
      generate: (body) => {
        body.generationConfig = { responseLogprobs: true, logprobs: 2 }
      },
    },
    refuses: forAll('logprobs' as const),
  },
  {
    name: 'a bias of tokens',
    conversation: ask({}),
    own: {
      chat: (body) => {
        body.logit_bias = { '50256': -100 }
      },
    },
    refuses: forAll('logitBias' as const),
  },
  {
    name: 'who asks, and hints',
    conversation: ask({}),
    own: {
      chat: (body) => {
        Object.assign(body, { user: 'u-1', metadata: { a: 'b' }, prompt_cache_key: 'k' })
      },
      responses: (body) => {
        Object.assign(body, { safety_identifier: 'u-1', metadata: { a: 'b' } })
      },
      messages: (body) => {
        body.metadata = { user_id: 'u-1' }
      },
      generate: (body) => {
        Object.assign(body, { labels: { a: 'b' }, safetySettings: [] })
      },
    },
  },
  {
    name: 'a field that no one knows',
    refusedAtHome: styleNames,
    conversation: ask({}),
    own: forAll((body) => {
      body.x_unknown = { a: 1 }
    }),
    unread: {
      chat: ['x_unknown'],
      responses: ['x_unknown'],
      messages: ['x_unknown'],
      generate: ['x_unknown'],
    },
  },
]
