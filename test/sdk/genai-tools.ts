// What users of the `@google/genai` package do with tools: calls that they answer themselves, and
// functions that the package calls for them.
import { describe, expect, test } from 'bun:test'
import {
  type CallableTool,
  type Content,
  type FunctionCall,
  FunctionCallingConfigMode,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import {
  expectLoop,
  type Over,
  type Stage,
  sealsOfLoop,
  tokens,
  toolLoops,
  weather,
  weatherIn,
} from './stage.ts'

export const clientOf = ({ gateway }: Stage, apiKey = tokens.usual) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${gateway.url}/vendorg` } })

const { parameters, ...named } = weather
const declared = {
  functionDeclarations: [{ ...named, parametersJsonSchema: parameters }],
}

const resultOf = ({ id, name, args }: FunctionCall): Part => ({
  functionResponse: {
    ...(id !== undefined && { id }),
    name: name!,
    response: { output: weatherIn(String(args?.['city'])) },
  },
})

const citiesOf = (calls: readonly FunctionCall[]) => calls.map(({ args }) => String(args?.['city']))

export function describeTools(stage: Stage, over: Over): void {
  const { model } = over
  const config = { tools: [declared] }

  const play = async (text: string): Promise<void> => {
    const { models } = clientOf(stage)
    const contents: Content[] = [{ role: 'user', parts: [{ text }] }]
    const cities: string[] = []
    for (;;) {
      const answer = await models.generateContent({ model, contents, config })
      const { functionCalls: calls } = answer
      if (calls === undefined) return expectLoop(cities, answer.text)
      cities.push(...citiesOf(calls))
      contents.push(answer.candidates![0]!.content!, { role: 'user', parts: calls.map(resultOf) })
    }
  }

  describe('tools', () => {
    test.each([...toolLoops])('are called and their results are read: %s', async (loop) => {
      expect(await stage.countSeals(() => play(loop))).toEqual(sealsOfLoop(loop, over))
    })

    test.each([...toolLoops])('are called by the SDK itself: %s', async (contents) => {
      let cities: string[] = []
      const callable: CallableTool = {
        tool: async () => declared,
        callTool: async (calls) => {
          cities.push(...citiesOf(calls))
          return calls.map(resultOf)
        },
      }
      const { models } = clientOf(stage)
      const request = { model, contents, config: { tools: [callable] } }
      expectLoop(cities, (await models.generateContent(request)).text)
      cities = []
      let text = ''
      for await (const chunk of await models.generateContentStream(request)) {
        text += chunk.text ?? ''
      }
      expectLoop(cities, text)
    })

    test('can be demanded, also in a stream', async () => {
      const stream = await clientOf(stage).models.generateContentStream({
        model,
        contents: 'weather?',
        config: {
          ...config,
          toolConfig: {
            functionCallingConfig: {
              mode: FunctionCallingConfigMode.ANY,
              allowedFunctionNames: ['weather'],
            },
          },
        },
      })
      const calls = []
      for await (const chunk of stream) calls.push(...(chunk.functionCalls ?? []))
      expect(calls).toMatchObject([{ name: 'weather', args: { city: 'sandbox' } }])
    })
  })
}
