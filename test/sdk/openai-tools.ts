// What users of the `openai` package do with tools: calls that they answer themselves, and the loops
// that the package runs for them.
import { describe, expect, test } from 'bun:test'
import { ResponsesToolRunner } from 'openai/helpers/responses-tool-runner'
import type {
  ChatCompletion,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources'
import type { FunctionTool, Response, ResponseInput } from 'openai/resources/responses/responses'
import { z } from 'zod'
import { type Client, clientOf, type OpenAIPackage, says } from './openai-client.ts'
import {
  expectLoop,
  type Over,
  type Stage,
  sealsOfLoop,
  toolLoops,
  weather,
  weatherIn,
} from './stage.ts'

const place = z.object({ city: z.string() })

export function describeTools(sdk: OpenAIPackage, stage: Stage, over: Over): void {
  describe('tools of chat', () => {
    describeChatCalls(sdk, stage, over)
    describeRunner(sdk, stage, over)
  })
  describe('tools of responses', () => {
    describeResponsesCalls(sdk, stage, over)
    describeResponsesRunner(sdk, stage, over)
  })
}

function describeChatCalls(sdk: OpenAIPackage, stage: Stage, over: Over): void {
  const { model, wire } = over
  const tools: ChatCompletionTool[] = [{ type: 'function', function: weather }]
  type Ask = (client: Client, messages: ChatCompletionMessageParam[]) => Promise<ChatCompletion>
  const ways: [string, Ask][] = [
    ['whole', (client, messages) => client.chat.completions.create({ model, messages, tools })],
    [
      'streamed',
      (client, messages) =>
        client.chat.completions.stream({ model, messages, tools }).finalChatCompletion(),
    ],
  ]
  const cases = ways.flatMap(([way, ask]) => toolLoops.map((loop) => [way, loop, ask] as const))

  const play = async (loop: string, ask: Ask): Promise<void> => {
    const client = clientOf(sdk, stage)
    const messages: ChatCompletionMessageParam[] = says(loop)
    const cities: string[] = []
    for (;;) {
      const { finish_reason, message } = (await ask(client, messages)).choices[0]!
      if (finish_reason !== 'tool_calls') return expectLoop(cities, message.content)
      messages.push(message)
      for (const call of message.tool_calls!) {
        if (call.type !== 'function') throw new Error('not a function')
        const { city } = place.parse(JSON.parse(call.function.arguments))
        cities.push(city)
        messages.push({ role: 'tool', tool_call_id: call.id, content: weatherIn(city) })
      }
    }
  }

  test.each(cases)('are called and their results are read, %s, %s', async (_, loop, ask) => {
    // Only the seals of calls have a place in messages that nobody asked for seals in.
    const wanted = sealsOfLoop(loop, over, wire === 'generate')
    expect(await stage.countSeals(() => play(loop, ask))).toEqual(wanted)
  })

  test('have their input parsed by a schema', async () => {
    const { choices } = await clientOf(sdk, stage).chat.completions.parse({
      model,
      messages: says('how is the weather?'),
      tools: [sdk.zod.zodFunction({ name: 'weather', parameters: place })],
      tool_choice: 'required',
    })
    const [call] = choices[0]?.message.tool_calls ?? []
    expect(call).toMatchObject({ function: { parsed_arguments: { city: 'sandbox' } } })
  })
}

function describeRunner(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  test.each([false, true])("are called by the SDK's own runner, streamed: %p", async (stream) => {
    const cities: string[] = []
    const runner = clientOf(sdk, stage).chat.completions.runTools({
      model,
      stream: stream as true,
      messages: says(toolLoops[0]),
      tools: [
        sdk.zod.zodFunction({
          name: 'weather',
          parameters: place,
          function: ({ city }) => {
            cities.push(city)
            return weatherIn(city)
          },
        }),
      ],
    })
    expectLoop(cities, await runner.finalContent())
  })
}

const tools: FunctionTool[] = [{ type: 'function', strict: null, ...weather }]

function describeResponsesCalls(sdk: OpenAIPackage, stage: Stage, over: Over): void {
  const { model } = over
  const include = ['reasoning.encrypted_content' as const]
  type Ask = (client: Client, input: ResponseInput) => Promise<Response>
  const ways: [string, Ask][] = [
    ['whole', (client, input) => client.responses.create({ model, input, tools, include })],
    [
      'streamed',
      (client, input) => client.responses.stream({ model, input, tools, include }).finalResponse(),
    ],
  ]
  const cases = ways.flatMap(([way, ask]) => toolLoops.map((loop) => [way, loop, ask] as const))

  const play = async (loop: string, ask: Ask): Promise<void> => {
    const client = clientOf(sdk, stage)
    const input: ResponseInput = says(loop)
    const cities: string[] = []
    for (;;) {
      const { output, output_text, status } = await ask(client, input)
      expect(status).toBe('completed')
      const calls = output.filter((item) => item.type === 'function_call')
      if (calls.length === 0) return expectLoop(cities, output_text)
      input.push(...(output as ResponseInput))
      for (const { call_id, arguments: given } of calls) {
        const { city } = place.parse(JSON.parse(given))
        cities.push(city)
        input.push({ type: 'function_call_output', call_id, output: weatherIn(city) })
      }
    }
  }

  test.each(cases)('are called and their results are read, %s, %s', async (_, loop, ask) => {
    const wanted = sealsOfLoop(loop, over)
    expect(await stage.countSeals(() => play(loop, ask))).toEqual(wanted)
  })

  test('have their input parsed by a schema', async () => {
    const { output } = await clientOf(sdk, stage).responses.parse({
      model,
      input: 'how is the weather?',
      tools: [sdk.zod.zodResponsesFunction({ name: 'weather', parameters: place })],
      tool_choice: 'required',
    })
    const call = output.find((item) => item.type === 'function_call')
    expect(call?.parsed_arguments).toEqual({ city: 'sandbox' })
  })
}

/** The current major has a loop of its own. */
function describeResponsesRunner(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  test.each([false, true])('are called by a runner, streamed: %p', async (stream) => {
    const cities: string[] = []
    const runner = new ResponsesToolRunner({
      functions: [
        {
          tool: tools[0]!,
          execute: (given) => {
            const { city } = place.parse(given)
            cities.push(city)
            return weatherIn(city)
          },
        },
      ],
    })
    const request = { model, input: toolLoops[0] }
    const { output_text } = await runner.run(clientOf(sdk, stage), request, { stream })
    expectLoop(cities, output_text)
  })
}
