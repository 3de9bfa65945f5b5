// Streams of all four upstream styles as text: those that the tests of the styles know, and the same
// with everything that a reader of events has to cope with.
import * as chat from '../../src/styles/chat/test-upstream.ts'
import type { Json, StyleName, Tool } from '../../src/styles/common/conversation.ts'
import * as generate from '../../src/styles/generate/test-upstream.ts'
import * as messages from '../../src/styles/messages/test-upstream.ts'
import * as responses from '../../src/styles/responses/test-upstream.ts'
import { styles as faultStyles, good } from '../faults/styles.ts'

export interface UpstreamStream {
  style: StyleName
  name: string
  events: readonly Json[]
}

export const tools: readonly Tool[] = [
  { name: 'read_file', schema: {} },
  { name: 'apply_patch', freeForm: {} },
]

/** Letters of two, three and four bytes, escapes, and words that could be mistaken for an end. */
const hard = 'Grüße, 你好 👩‍👩‍👧 \n\n data: [DONE] "finish_reason":"stop" \u2028'
const input = JSON.stringify({ path: hard, quote: '\\"\n' })

const chatRich: Json[] = [
  chat.chunk({ role: 'assistant', content: '' }),
  chat.chunk({ reasoning_content: hard }),
  chat.chunk({ content: hard }),
  chat.calls(
    { index: 0, id: 'i', type: 'function', function: { name: 'read_file', arguments: '' } },
    { index: 1, id: 'j', type: 'function', function: { name: 'apply_patch', arguments: '' } },
  ),
  chat.calls({ index: 1, function: { arguments: JSON.stringify({ input: hard }).slice(0, 20) } }),
  chat.calls({ index: 0, function: { arguments: input.slice(0, 24) } }),
  chat.calls({ index: 1, function: { arguments: JSON.stringify({ input: hard }).slice(20) } }),
  chat.calls({ index: 0, function: { arguments: input.slice(24) } }),
  chat.end('tool_calls'),
  { choices: [], usage: { ...chat.usage, prompt_tokens_details: { cached_tokens: 3 } } },
]

const messagesRich: Json[] = [
  messages.begin,
  messages.start(0, { type: 'thinking', thinking: '', signature: '' }),
  messages.delta(0, { type: 'thinking_delta', thinking: hard }),
  messages.delta(0, { type: 'signature_delta', signature: 'sig==' }),
  messages.stop(0),
  { type: 'ping' },
  messages.start(1, { type: 'text', text: '' }),
  messages.delta(1, { type: 'text_delta', text: hard }),
  messages.stop(1),
  messages.start(2, { type: 'tool_use', id: 't', name: 'read_file', input: {} }),
  messages.delta(2, { type: 'input_json_delta', partial_json: input.slice(0, 24) }),
  messages.delta(2, { type: 'input_json_delta', partial_json: input.slice(24) }),
  messages.stop(2),
  messages.end('tool_use'),
  { type: 'message_stop' },
]

const responsesRich = responses.answerOf([
  { ...responses.messageItem, content: [{ type: 'output_text', text: hard, annotations: [] }] },
  responses.callItem('c1', 'read_file', '{"path":"ä"}'),
  responses.customItem,
])

const generateRich: Json[] = [
  generate.chunk([{ text: hard, thought: true }]),
  generate.chunk([{ text: hard }]),
  generate.chunk([generate.calling('read_file', { path: hard }, { thoughtSignature: 'sig==' })]),
  generate.lastChunk([{ text: '', thoughtSignature: 'late==' }]),
]

const given = (style: StyleName, name: string, events: readonly Json[]): UpstreamStream => ({
  style,
  name,
  events,
})

/** One of each style, with every kind of block. */
export const richStreams: readonly UpstreamStream[] = [
  given('chat', 'everything', chatRich),
  given('messages', 'everything', messagesRich),
  given('responses', 'everything', responses.streamOf(responsesRich)),
  given('generate', 'everything', generateRich),
]

const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }

export const upstreamStreams: readonly UpstreamStream[] = [
  ...chat.streams.map(([name, events]) => given('chat', name, events)),
  given('chat', 'calls side by side and usage', chat.stream),
  ...messages.streams.map(([name, events]) => given('messages', name, events)),
  given('messages', 'every kind of block', messages.stream),
  given('responses', 'text', responses.streamOf(responses.answerOf([responses.messageItem]))),
  given('responses', 'a limit', responses.streamOf(responses.answerOf([], incomplete))),
  given('responses', 'its text only at the end', [
    { type: 'response.created', response: {} },
    { type: 'response.completed', response: responses.answerOf([responses.messageItem]) },
  ]),
  given('generate', 'every kind of part', generate.stream),
  given('generate', 'a whole answer', [generate.whole]),
  given('generate', 'a refused question', [
    { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: generate.upstreamUsage },
  ]),
]

/** As the fault table sends them. */
export const plainWires: readonly [StyleName, string][] = (
  ['chat', 'responses', 'messages', 'generate'] as const
).map((style) => [style, faultStyles[style].events('up-model', good).join('')])

/** The same with words that are hard to cut. */
export const hardWires = plainWires.map(([style, wire]): [StyleName, string] => [
  style,
  wire.replaceAll('Hello ', JSON.stringify(hard.slice(0, 24)).slice(1, -1)),
])

const named = (event: Json): string =>
  typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''

/** As it comes over the wire. */
export function wireOf({ style, events }: UpstreamStream): string {
  const isNamed = style === 'messages' || style === 'responses'
  const text = events
    .map((event) => `${isNamed ? named(event) : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
  return style === 'chat' ? `${text}data: [DONE]\n\n` : text
}

/** JSON with line ends between its parts, each in a data line of its own. */
const onLines = (wire: string): string =>
  wire.replace(/^data: (\{.*\})$/gm, (_, json: string) =>
    JSON.stringify(JSON.parse(json), null, 1)
      .split('\n')
      .map((line) => `data: ${line}`)
      .join('\n'),
  )

/** The same stream, as other servers would send it. */
export const variants: readonly [name: string, (wire: string) => string][] = [
  ['with CRLF', (wire) => wire.replaceAll('\n', '\r\n')],
  ['with a byte order mark', (wire) => `\ufeff${wire}`],
  ['with no space after the colon', (wire) => wire.replaceAll(/^(data|event): /gm, '$1:')],
  [
    'with comments and other fields',
    (wire) => `: hello\n\n${wire.replaceAll('\n\n', '\n\n: ping ünï\n\nid: 7\nretry: 3\n\n')}`,
  ],
  ['with data on several lines', onLines],
  ['with data on several lines and CRLF', (wire) => onLines(wire).replaceAll('\n', '\r\n')],
]
