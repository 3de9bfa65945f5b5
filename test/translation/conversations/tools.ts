// Tools: their names and kinds, the choice among them, calls and results of earlier turns.
import type { StyleName } from '../../../src/styles/common/conversation.ts'
import {
  assistant,
  type Body,
  type ConversationCase,
  call,
  clock,
  failed,
  result,
  user,
  weather,
} from './conversation-case.ts'

const threeCalls = [
  user('Weather and time of three cities'),
  assistant(
    'I will see.',
    call('call_1', 'weather', '{"city":"Paris"}'),
    call('call_2', 'weather', '{"city":"Rome"}'),
    call('call_3', 'clock', '{"zone":"CET","city":"Oslo"}'),
  ),
  user(result('call_1', 'Rain'), result('call_2', 'Sun'), result('call_3', '12:00')),
]

const isOutput = (item: Body): boolean => item.type === 'function_call_output'

/** The last results of a body in the other order. */
const reversed: Record<StyleName, (body: Body) => void> = {
  chat: ({ messages }) => {
    const at = messages.findIndex((each: Body) => each.role === 'tool')
    messages.push(...messages.splice(at).reverse())
  },
  responses: ({ input }) => {
    const at = input.findIndex(isOutput)
    input.push(...input.splice(at).reverse())
  },
  messages: ({ messages }) => messages.at(-1).content.reverse(),
  generate: ({ contents }) => contents.at(-1).parts.reverse(),
}

const longName = `mcp__a.very-long_server.name__${'tool_'.repeat(20)}end`
const oddTools = [
  { ...weather, name: longName },
  { ...weather, name: '9lives' },
  { ...weather, name: 'größe/ändern' },
]

const rounds = Array.from({ length: 3 }, (_, index) => [
  assistant(call(`call_${index}`, 'weather', `{"city":"City ${index}"}`)),
  user(result(`call_${index}`, `Result ${index}`)),
]).flat()

const patch = {
  name: 'apply_patch',
  description: 'Changes files.',
  freeForm: { grammar: 'start: /.+/', syntax: 'lark' },
}
const patchText = '*** Begin Patch\n+"new" \\line\n*** End Patch\n'

export const toolCases: readonly ConversationCase[] = [
  {
    name: 'parallel calls and their results',
    conversation: { tools: [weather, clock], turns: threeCalls },
  },
  {
    name: 'results in another order than the calls',
    conversation: { tools: [weather, clock], turns: threeCalls },
    own: reversed,
  },
  {
    name: 'a result that is an error',
    conversation: {
      tools: [weather],
      turns: [
        user('Weather'),
        assistant(call('call_1', 'weather', '{"city":"Atlantis"}')),
        user(failed('call_1', 'no such city')),
      ],
    },
    changes: { chat: ['isError'], responses: ['isError'] },
  },
  {
    name: 'turns of calls and results only',
    conversation: { tools: [weather], turns: [user('Weather of three cities'), ...rounds] },
  },
  {
    name: 'a text after a call',
    conversation: {
      tools: [weather],
      turns: [
        user('Weather'),
        assistant('First', call('call_1', 'weather', '{"city":"Paris"}'), 'then this.'),
        user(result('call_1', 'Rain'), 'And now?'),
      ],
    },
    changes: { chat: ['turns'] },
  },
  {
    name: 'names of tools that are long or odd',
    refusedAtHome: ['chat', 'responses', 'messages', 'generate'],
    conversation: {
      tools: oddTools,
      turns: [
        user('Use them'),
        assistant(
          call('call_1', longName, '{"city":"Paris"}'),
          call('call_2', 'größe/ändern', '{"city":"Rome"}'),
        ),
        user(result('call_1', 'Rain'), result('call_2', 'Sun')),
      ],
      toolChoice: { mode: 'tool', name: longName },
    },
  },
  {
    name: 'tools in namespaces',
    conversation: {
      tools: [
        { ...weather, namespace: 'mcp__maps' },
        { ...clock, namespace: 'mcp__maps' },
        { ...weather, description: 'Another one.' },
      ],
      turns: [
        user('Use them'),
        assistant(call('call_1', 'clock', '{"city":"Oslo"}', { namespace: 'mcp__maps' })),
        user(result('call_1', '12:00')),
      ],
      toolChoice: { mode: 'required' },
    },
    own: {
      responses: (body) => {
        const [first, second, other] = body.tools
        const members = [first, second].map((tool) => ({ ...tool, name: tool.name.slice(11) }))
        body.tools = [{ type: 'namespace', name: 'mcp__maps', tools: members }, other]
        const made = body.input.find(({ type }: Body) => type === 'function_call')
        Object.assign(made, { name: 'clock', namespace: 'mcp__maps' })
      },
    },
  },
  {
    name: 'tools that take free text',
    conversation: {
      tools: [patch, weather],
      turns: [
        user('Change the file'),
        assistant(call('call_1', 'apply_patch', patchText, { freeForm: true })),
        user(result('call_1', 'Done')),
      ],
    },
    changes: { chat: ['toolFreeForm'], messages: ['toolFreeForm'], generate: ['toolFreeForm'] },
  },
  {
    name: 'a tool that must be called',
    conversation: {
      tools: [weather, clock],
      turns: [user('Hm')],
      toolChoice: { mode: 'required' },
    },
  },
  {
    name: 'one tool by name, and one call at a time',
    conversation: {
      tools: [weather, clock],
      turns: [user('Hm')],
      toolChoice: { mode: 'tool', name: 'clock' },
      parallelCalls: false,
    },
    changes: { generate: ['parallelCalls'] },
  },
  {
    name: 'no tool at all',
    conversation: { tools: [weather], turns: [user('Hm')], toolChoice: { mode: 'none' } },
  },
  {
    name: 'some of the tools',
    conversation: {
      tools: [weather, clock],
      turns: [user('Hm')],
      toolChoice: { mode: 'allowed', names: ['clock'], required: false },
    },
    own: {
      chat: (body) => {
        body.tools = [weather, clock].map(({ schema: parameters, ...tool }) => ({
          type: 'function',
          function: { ...tool, parameters },
        }))
        const clockOnly = [{ type: 'function', function: { name: 'clock' } }]
        body.tool_choice = {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: clockOnly },
        }
      },
      generate: (body) => {
        body.tools = [
          {
            functionDeclarations: [weather, clock].map(({ schema, ...tool }) => ({
              ...tool,
              parametersJsonSchema: schema,
            })),
          },
        ]
        body.toolConfig = {
          functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['clock'] },
        }
      },
    },
    changes: { chat: ['toolChoice'], messages: ['toolChoice'], generate: ['toolChoice'] },
  },
  {
    name: 'numbers that no double holds, and calls without arguments',
    conversation: {
      tools: [weather, clock],
      turns: [
        user('Count'),
        assistant(
          call(
            'call_1',
            'weather',
            '{"n":12345678901234567890,"x":0.1000000000000000055,"city":"A"}',
          ),
          call('call_2', 'clock', '{}'),
          call('call_3', 'clock', ''),
        ),
        user(
          result('call_1', '{"n": 98765432109876543210}'),
          result('call_2', '1'),
          result('call_3'),
        ),
      ],
    },
  },
  {
    name: 'arguments that are no object',
    conversation: {
      tools: [weather],
      turns: [
        user('Count'),
        assistant(call('call_1', 'weather', '[1,2]'), call('call_2', 'weather', '{"city":')),
        user(result('call_1', 'No'), result('call_2', 'No')),
      ],
    },
    changes: { messages: ['turns'], generate: ['turns'] },
  },
  {
    name: 'a tool with a strict schema',
    conversation: {
      tools: [{ ...weather, strict: true }],
      turns: [user('Hm')],
      toolChoice: { mode: 'required' },
    },
    changes: { generate: ['toolStrict'] },
  },
]
