// Every style over every other: what an upstream of one style says reaches callers of all styles in
// their own grammar, and what they send back reaches the upstream again.
import { describe, expect, test } from 'bun:test'
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import type { AnswerEvent, StopReason } from '../../src/styles/common/answer.ts'
import type { Json, StyleName } from '../../src/styles/common/conversation.ts'
import type { Style } from '../../src/styles/common/style.ts'
import {
  block,
  call,
  conversation,
  eventProblem,
  joined,
  readAll,
  readContext,
  readWhole,
  target,
  usage,
  writeContext,
} from '../../src/styles/common/test-answers.ts'
import { readRequest, writeRequest } from '../../src/styles/common/test-requests.ts'
import { dataOf } from '../../src/styles/common/test-support.ts'
import { ToolNames } from '../../src/styles/common/tool-names.ts'
import { generateProblem } from '../../src/styles/generate/test-grammar.ts'
import { styles } from '../../src/styles/index.ts'
import { messagesProblems } from '../../src/styles/messages/test-grammar.ts'
import { responsesProblem } from '../../src/styles/responses/test-grammar.ts'

const all = Object.values(styles)
const pairs = all.flatMap((caller) =>
  all.map((upstream) => [caller.name, upstream.name, caller, upstream] as const),
)

const problemIn: Readonly<Record<StyleName, (stream: string) => string | undefined>> = {
  chat: (stream) => chatProblems(stream)[0],
  responses: responsesProblem,
  messages: (stream) => messagesProblems(stream)[0],
  generate: generateProblem,
}

const begin: AnswerEvent = { type: 'begin' }
const end = (reason: StopReason): AnswerEvent[] => [
  { type: 'stop', reason },
  { type: 'usage', usage },
]
const text = { kind: 'text' } as const
const reasoning = { kind: 'reasoning' } as const

const answers: Readonly<Record<string, AnswerEvent[]>> = {
  text: [begin, ...block(0, text, 'Hel', 'lo, wörld \u{1f600}\n"q"'), ...end('end')],
  'three calls': [
    begin,
    ...block(0, call('c1', 'read_file'), '{"path":', '"a"}'),
    ...block(1, call('c2', 'read_file'), '{}'),
    ...block(2, call('c3', 'find'), '{"n":12345678901234567890}'),
    ...end('calls'),
  ],
  'reasoning, text and a call': [
    begin,
    ...block(0, reasoning, 'Let me', ' see.'),
    ...block(1, text, 'I look.'),
    ...block(2, call('c1', 'read_file'), '{"path":"a"}'),
    ...end('calls'),
  ],
  'an answer that was cut': [begin, ...block(0, text, 'Hel'), ...end('length')],
  'an answer that was withheld': [begin, ...block(0, text, 'Hel'), ...end('filtered')],
  'no output': [begin, ...end('end')],
}

const context = writeContext({
  conversation: conversation({ wantsSeals: true, showReasoning: true }),
  fields: { stream_options: { include_usage: true } },
})

function streamOf(style: Style, events: readonly AnswerEvent[]): string {
  const writer = style.newWriter(context)
  return events.map((event) => writer.write(event)).join('') + writer.end()
}

/** What has to survive: text, calls and the reason. */
function essence(events: readonly AnswerEvent[]): unknown[] {
  return joined(events).flatMap((event): unknown[] => {
    if (event.type === 'open') {
      const { block: opened } = event
      return [opened.kind === 'call' ? [opened.call.id, opened.call.name] : opened.kind]
    }
    if (event.type === 'text') return [event.text]
    if (event.type === 'input') return [JSON.stringify(JSON.parse(event.text))]
    return event.type === 'stop' ? [event.reason === 'refusal' ? 'filtered' : event.reason] : []
  })
}

describe.each(pairs)('%s over %s', (_, __, caller, upstream) => {
  test.each(Object.entries(answers))('gives %s, whole and as a stream', (___, events) => {
    const wire = streamOf(upstream, events)
    expect(problemIn[upstream.name](wire)).toBeUndefined()
    const streamed = readAll(upstream.newReader(readContext(upstream)), dataOf(wire))
    const whole = readWhole(upstream, upstream.writeAnswer(events, context))
    expect(eventProblem(streamed)).toBeUndefined()
    expect(essence(streamed)).toEqual(essence(events))
    expect(essence(whole)).toEqual(essence(events))
    const shown = streamOf(caller, streamed)
    expect(problemIn[caller.name](shown)).toBeUndefined()
    const again = readAll(caller.newReader(readContext(caller)), dataOf(shown))
    expect(essence(again)).toEqual(essence(events))
  })
})

/** A first request, and the next one, made of the answer and the result of its call. */
interface Caller {
  first: Json
  next(answer: Json): Json
}

const parameters = { type: 'object', properties: { path: { type: 'string' } } }
const question = 'What is in a?'

const callers: Readonly<Record<StyleName, Caller>> = {
  chat: {
    first: {
      model: 'm',
      reasoning: { effort: 'low' },
      messages: [{ role: 'user', content: question }],
      tools: [{ type: 'function', function: { name: 'read_file', parameters } }],
    },
    next({ choices }) {
      const [{ message }] = choices as [{ message: Json }]
      const [made] = message['tool_calls'] as [Json]
      const result = { role: 'tool', tool_call_id: made['id'], content: 'a line' }
      return { ...this.first, messages: [{ role: 'user', content: question }, message, result] }
    },
  },
  responses: {
    first: {
      model: 'm',
      include: ['reasoning.encrypted_content'],
      input: [{ role: 'user', content: question }],
      tools: [{ type: 'function', name: 'read_file', parameters, strict: false }],
    },
    next({ output }) {
      const made = (output as Json[]).find(({ type }) => type === 'function_call')!
      const result = { type: 'function_call_output', call_id: made['call_id'], output: 'a line' }
      return {
        ...this.first,
        input: [{ role: 'user', content: question }, ...(output as Json[]), result],
      }
    },
  },
  messages: {
    first: {
      model: 'm',
      max_tokens: 500,
      messages: [{ role: 'user', content: question }],
      tools: [{ name: 'read_file', input_schema: parameters }],
    },
    next({ content }) {
      const made = (content as Json[]).find(({ type }) => type === 'tool_use')!
      const result = { type: 'tool_result', tool_use_id: made['id'], content: 'a line' }
      return {
        ...this.first,
        messages: [
          { role: 'user', content: question },
          { role: 'assistant', content },
          { role: 'user', content: [result] },
        ],
      }
    },
  },
  generate: {
    first: {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      tools: [{ functionDeclarations: [{ name: 'read_file', parametersJsonSchema: parameters }] }],
    },
    next({ candidates }) {
      const [{ content }] = candidates as [{ content: { parts: Json[] } }]
      const made = content.parts.find((part) => part['functionCall'])!['functionCall'] as Json
      const functionResponse = { id: made['id'], name: 'read_file', response: { output: 'a line' } }
      return {
        ...this.first,
        contents: [
          { role: 'user', parts: [{ text: question }] },
          content,
          { role: 'user', parts: [{ functionResponse }] },
        ],
      }
    },
  },
}

/** A call after sealed reasoning, in the upstream's own words. */
const sealedAnswers: Readonly<Partial<Record<StyleName, Json>>> = {
  responses: {
    status: 'completed',
    output: [
      { type: 'reasoning', id: 'rs_7', summary: [], encrypted_content: 'SEALED' },
      { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"path":"a"}' },
    ],
    usage: {},
  },
  messages: {
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'SEALED' },
      { type: 'tool_use', id: 'c1', name: 'read_file', input: { path: 'a' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  generate: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            {
              functionCall: { id: 'c1', name: 'read_file', args: { path: 'a' } },
              thoughtSignature: 'SEALED',
            },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {},
  },
}

/** What the upstream gets of that answer in the next request. */
const expectedBack: Readonly<Partial<Record<StyleName, Json[]>>> = {
  responses: [
    { type: 'reasoning', id: 'rs_7', summary: [], encrypted_content: 'SEALED' },
    { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"path":"a"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'a line' },
  ],
  messages: [
    { type: 'thinking', thinking: 'Let me see.', signature: 'SEALED' },
    { type: 'tool_use', id: 'c1', name: 'read_file', input: { path: 'a' } },
  ],
  generate: [
    {
      functionCall: { id: 'c1', name: 'read_file', args: { path: 'a' } },
      thoughtSignature: 'SEALED',
    },
  ],
}

const assistantOf: Readonly<Partial<Record<StyleName, (body: Json) => unknown>>> = {
  responses: ({ input }) => (input as Json[]).slice(1),
  messages: ({ messages: list }) => (list as Json[])[1]!['content'],
  generate: ({ contents }) => (contents as Json[])[1]!['parts'],
}

const sealing = pairs.filter(([, name]) => sealedAnswers[name] !== undefined)

describe.each(sealing)('a loop of %s over %s', (callerName, upstreamName, caller, upstream) => {
  const { first } = callers[callerName]
  const read = readRequest(caller, first)
  const events = readWhole(upstream, sealedAnswers[upstreamName]!, read.conversation.tools)
  const answer = caller.writeAnswer(
    events,
    writeContext({ conversation: read.conversation, fields: first }),
  )
  const next = readRequest(caller, callers[callerName].next(JSON.parse(JSON.stringify(answer))))

  test('brings a seal back to the upstream that made it, in its place', () => {
    expect([read.param, next.param, next.losses]).toEqual([undefined, undefined, []])
    const { body, param, losses } = writeRequest(upstream, next.conversation)
    expect([param, losses.filter((name) => !name.includes('ffort'))]).toEqual([undefined, []])
    expect(assistantOf[upstreamName]!(body)).toMatchObject(expectedBack[upstreamName]!)
  })

  test('keeps a seal from every other upstream, and the text of reasoning too', () => {
    for (const other of all) {
      const { body, param } = writeRequest(other, next.conversation, target({}, { realm: 'other' }))
      expect(param).toBeUndefined()
      expect(JSON.stringify(body)).not.toContain('SEALED')
      expect(JSON.stringify(body)).not.toContain('Let me see.')
      expect(JSON.stringify(body)).toContain('a line')
    }
  })
})

describe.each(all.map((upstream) => [upstream.name, upstream] as const))(
  'tools of the responses style over %s',
  (name, upstream) => {
    const long = `mcp__${'server'.repeat(15)}__find`
    const first = {
      model: 'm',
      input: 'Hi',
      tools: [
        { type: 'custom', name: 'apply_patch', format: { type: 'text' } },
        {
          type: 'namespace',
          name: 'docs',
          tools: [{ type: 'function', name: 'find', parameters }],
        },
        { type: 'function', name: long, parameters },
      ],
    }
    const { conversation: read } = readRequest(styles.responses, first)
    const context_ = writeContext({ conversation: read, fields: first })

    test('come back under their own names, and free text as free text', () => {
      const names = new ToolNames(read.tools, upstream.toolName)
      const sent = read.tools.map((tool) => names.upstream(tool))
      const events: AnswerEvent[] = [
        begin,
        ...block(0, call('c1', sent[0]!), '{"input":"*** Begin\\n\\"x\\""}'),
        ...block(1, call('c2', sent[1]!), '{"path":"a"}'),
        ...block(2, call('c3', sent[2]!), '{}'),
        ...end('calls'),
      ]
      const written = JSON.stringify(writeRequest(upstream, read, target({ freeFormTools: false })))
      for (const each of sent) expect(written).toContain(`"${each}"`)
      const wire = dataOf(streamOf(upstream, events))
      const streamed = readAll(upstream.newReader(readContext(upstream, read.tools)), wire)
      const { output } = styles.responses.writeAnswer(streamed, context_)
      expect(output).toMatchObject([
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin\n"x"' },
        { type: 'function_call', call_id: 'c2', name: 'find', namespace: 'docs' },
        { type: 'function_call', call_id: 'c3', name: long },
      ])
      const shown = streamOf(styles.responses, streamed)
      expect([name, problemIn.responses(shown)]).toEqual([name, undefined])
    })
  },
)
