// The official clients of every style: their requests are read without a loss, and they understand
// what is written for them.
import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { generateText, type LanguageModel, Output, streamText, type ToolSet } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'
import type { AnswerEvent } from '../../src/styles/common/answer.ts'
import type { Json, StyleName } from '../../src/styles/common/conversation.ts'
import { block, call, usage, writeContext } from '../../src/styles/common/test-answers.ts'
import { readRequest } from '../../src/styles/common/test-requests.ts'
import { styles } from '../../src/styles/index.ts'

const begin: AnswerEvent = { type: 'begin' }
const thinking = block(0, { kind: 'reasoning' }, 'Let me', ' see.')
const working: AnswerEvent[] = [
  begin,
  ...thinking,
  ...block(1, { kind: 'text' }, 'I ', 'look.'),
  ...block(2, call('c1', 'read_file'), '{"path":', '"a"}'),
  ...block(3, call('c2', 'read_file'), '{"path":"b"}'),
  { type: 'stop', reason: 'calls' },
  { type: 'usage', usage },
]
const plain = (text: string): AnswerEvent[] => [
  begin,
  ...block(0, { kind: 'text' }, text),
  { type: 'stop', reason: 'end' },
  { type: 'usage', usage },
]

interface Exchange {
  fetch: typeof fetch
  /** What the client sent. */
  bodies: Json[]
}

/** Answers every request with the same events, in the way that the client wants them. */
function exchange(name: StyleName, events: readonly AnswerEvent[]): Exchange {
  const style = styles[name]
  const bodies: Json[] = []
  const answer = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const fields = JSON.parse(String(init?.body)) as Json
    bodies.push(fields)
    const { conversation } = readRequest(style, fields)
    const context = writeContext({ conversation, fields })
    const isStream = fields['stream'] === true || String(input).includes('streamGenerateContent')
    if (!isStream) return Response.json(style.writeAnswer(events, context))
    const writer = style.newWriter(context)
    const stream = events.map((event) => writer.write(event)).join('') + writer.end()
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { fetch: answer as typeof fetch, bodies }
}

const settings = ({ fetch }: Exchange) => ({
  apiKey: 'key',
  baseURL: 'https://gateway.invalid/v1',
  fetch,
})
const modelOf: Readonly<Record<StyleName, (with_: Exchange) => LanguageModel>> = {
  chat: (with_) => createOpenAI(settings(with_)).chat('m'),
  responses: (with_) => createOpenAI(settings(with_)).responses('m'),
  messages: (with_) => createAnthropic(settings(with_))('m'),
  generate: (with_) => createGoogleGenerativeAI(settings(with_))('m'),
}
const names = Object.keys(styles) as StyleName[]

const tools: ToolSet = {
  read_file: { description: 'Reads.', inputSchema: z.object({ path: z.string() }) },
}
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe.each(names)('a client of the %s style', (name) => {
  test('understands reasoning, text and calls, whole and as a stream', async () => {
    const with_ = exchange(name, working)
    const ask = { model: modelOf[name](with_), tools, prompt: 'What is in a?' }
    const streamed = streamText(ask)
    for (const answer of [await generateText(ask), streamed]) {
      expect(await answer.text).toBe('I look.')
      expect((await answer.toolCalls).map(({ input }) => input)).toEqual([
        { path: 'a' },
        { path: 'b' },
      ])
      expect(await answer.finishReason).toBe('tool-calls')
      expect(await answer.usage).toMatchObject({ inputTokens: 100, outputTokens: 40 })
    }
    for (const body of with_.bodies) {
      expect(readRequest(styles[name], body)).toMatchObject({ param: undefined, losses: [] })
    }
  })

  test('gets an object of the schema that it asked for', async () => {
    const with_ = exchange(name, plain('{"city":"Paris"}'))
    const { output } = await generateText({
      model: modelOf[name](with_),
      output: Output.object({ schema: z.object({ city: z.string() }) }),
      prompt: 'Where?',
    })
    expect(output).toEqual({ city: 'Paris' })
    const { conversation, losses } = readRequest(styles[name], with_.bodies[0]!)
    expect(losses).toEqual([])
    // One client asks for a call of a tool instead, because it does not know the model.
    const isByTool = conversation.tools.length > 0
    expect(conversation.format.kind === 'schema').toBe(!isByTool)
  })

  test('sends a conversation with instructions, an image, calls and results', async () => {
    const with_ = exchange(name, plain('Done.'))
    await generateText({
      model: modelOf[name](with_),
      tools,
      system: 'Be short.',
      maxOutputTokens: 100,
      temperature: 0.5,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'file', data: png, mediaType: 'image/png' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'c1', toolName: 'read_file', input: { path: 'a' } },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'read_file',
              output: { type: 'text', value: 'a line' },
            },
          ],
        },
      ],
    })
    const { conversation, losses, param } = readRequest(styles[name], with_.bodies[0]!)
    expect([param, losses]).toEqual([undefined, []])
    expect(conversation.system).toMatchObject([{ text: 'Be short.' }])
    expect(conversation.turns).toMatchObject([
      { role: 'user', parts: [{ text: 'Look' }, { type: 'image', data: png }] },
      { role: 'assistant', parts: [{ type: 'call', name: 'read_file', input: '{"path":"a"}' }] },
      { role: 'user', parts: [{ type: 'result', parts: [{ text: 'a line' }] }] },
    ])
  })
})

describe('the client of the responses style itself', () => {
  const ask = { model: 'm', input: 'What is in a?' }
  const client = (events: readonly AnswerEvent[]) =>
    new OpenAI({ ...settings(exchange('responses', events)), maxRetries: 0 })

  test('adds up a stream to the response at its end', async () => {
    const stream = client(working).responses.stream(ask)
    const { output, output_text: text } = await stream.finalResponse()
    expect(text).toBe('I look.')
    expect(output.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'function_call',
    ])
    const whole = await client(working).responses.create(ask)
    expect(output).toMatchObject(whole.output)
  })

  test('knows why an answer was cut', async () => {
    const cut = plain('Hel').map(
      (event): AnswerEvent => (event.type === 'stop' ? { ...event, reason: 'length' } : event),
    )
    const response = await client(cut).responses.stream(ask).finalResponse()
    expect(response.status).toBe('incomplete')
    expect(response.incomplete_details?.reason).toBe('max_output_tokens')
  })
})

describe('the client of the generate style itself', () => {
  const declared = { functionDeclarations: [{ name: 'read_file', parametersJsonSchema: {} }] }

  test('adds up the parts of a stream, and returns seals with them', async () => {
    const sealed = working.flatMap((event): AnswerEvent[] =>
      event.type === 'close' && event.index === 0
        ? [{ type: 'seal', index: 0, seal: { realm: 'r', data: 'sig' } }, event]
        : [event],
    )
    const with_ = exchange('generate', sealed)
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) =>
        with_.fetch(request.url, { method: 'POST', body: await request.text() }),
    })
    try {
      const client = new GoogleGenAI({
        apiKey: 'key',
        httpOptions: { baseUrl: `http://127.0.0.1:${server.port}` },
      })
      const chats = client.chats.create({ model: 'm', config: { tools: [declared] } })
      let text = ''
      const calls: unknown[] = []
      for await (const chunk of await chats.sendMessageStream({ message: 'What is in a?' })) {
        text += chunk.text ?? ''
        calls.push(...(chunk.functionCalls ?? []).map(({ args }) => args))
      }
      expect([text, calls]).toEqual(['I look.', [{ path: 'a' }, { path: 'b' }]])
      const { usageMetadata } = await chats.sendMessage({
        message: ['c1', 'c2'].map((id) => ({
          functionResponse: { id, name: 'read_file', response: { output: 'a line' } },
        })),
      })
      expect(usageMetadata).toMatchObject({ thoughtsTokenCount: 10, totalTokenCount: 140 })
    } finally {
      await server.stop(true)
    }
    const { conversation, losses, param } = readRequest(styles.generate, with_.bodies[1]!)
    expect([param, losses]).toEqual([undefined, []])
    const [, assistant, results] = conversation.turns
    expect(assistant!.parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'call', 'call'])
    expect(assistant!.parts[0]).toMatchObject({ seal: { data: 'sig' } })
    expect(results!.parts).toMatchObject([{ callId: 'c1' }, { callId: 'c2' }])
  })
})
