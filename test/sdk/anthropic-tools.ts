// What users of the `@anthropic-ai/sdk` package do with tools: calls that they answer themselves, and
// the loop that the package runs for them.
import { describe, expect, test } from 'bun:test'
import type {
  ContentBlock,
  Message,
  MessageParam,
  Tool,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { z } from 'zod'
import { type AnthropicPackage, asking, type Client, clientOf } from './anthropic-client.ts'
import { textIn } from './anthropic-messages.ts'
import {
  expectLoop,
  type Over,
  type Stage,
  sealsOfLoop,
  toolLoops,
  weather,
  weatherIn,
} from './stage.ts'

const { parameters, ...named } = weather
const tools: Tool[] = [{ ...named, input_schema: parameters }]
const place = z.object({ city: z.string() })

export function describeTools(sdk: AnthropicPackage, stage: Stage, over: Over): void {
  const { model } = over
  const { messages: _, ...usual } = asking('', model)
  type Ask = (client: Client, messages: MessageParam[]) => Promise<Message>
  const ways: [string, Ask][] = [
    ['whole', (client, messages) => client.messages.create({ ...usual, messages, tools })],
    [
      'streamed',
      (client, messages) => client.messages.stream({ ...usual, messages, tools }).finalMessage(),
    ],
  ]
  const cases = ways.flatMap(([way, ask]) => toolLoops.map((loop) => [way, loop, ask] as const))

  const play = async (loop: string, ask: Ask): Promise<void> => {
    const client = clientOf(sdk, stage)
    const messages: MessageParam[] = asking(loop).messages
    const cities: string[] = []
    for (;;) {
      const { content, stop_reason } = await ask(client, messages)
      if (stop_reason !== 'tool_use') return expectLoop(cities, textIn(content))
      const results = content
        .filter((block) => block.type === 'tool_use')
        .map(({ id, input }): ToolResultBlockParam => {
          const { city } = place.parse(input)
          cities.push(city)
          return { type: 'tool_result', tool_use_id: id, content: weatherIn(city) }
        })
      messages.push({ role: 'assistant', content }, { role: 'user', content: results })
    }
  }

  describe('tools', () => {
    test.each(cases)('are called and their results are read, %s, %s', async (_, loop, ask) => {
      const wanted = sealsOfLoop(loop, over)
      expect(await stage.countSeals(() => play(loop, ask))).toEqual(wanted)
    })

    test.each([false, true])("are called by the SDK's own runner, streamed: %p", async (stream) => {
      const cities: string[] = []
      const runner = clientOf(sdk, stage).beta.messages.toolRunner({
        ...asking(toolLoops[0], model),
        stream,
        betas: ['unheard-of-2031-01-01'],
        tools: [
          sdk.zod.betaZodTool({
            name: weather.name,
            description: weather.description,
            inputSchema: place,
            run: ({ city }) => {
              cities.push(city)
              return weatherIn(city)
            },
          }),
        ],
      })
      const final = await runner.runUntilDone()
      expectLoop(cities, textIn(final.content as ContentBlock[]))
    })
  })
}
