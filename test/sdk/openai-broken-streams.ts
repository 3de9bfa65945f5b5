// How a stream that ends too early looks to users of the `openai` package.
import { describe, expect, test } from 'bun:test'
import { requestIdShape } from '../support/read.ts'
import { clientOf, failureOf, type OpenAIPackage, says } from './openai-client.ts'
import { models, type Stage } from './stage.ts'

const model = models.text

export function describeBrokenStreams(sdk: OpenAIPackage, stage: Stage): void {
  const breaking = ['cut=9', 'error-after=9']

  describe('a stream that breaks', () => {
    test.each(breaking)('is an APIError after the text before it in chat (%s)', async (how) => {
      const stream = await clientOf(sdk, stage).chat.completions.create({
        model,
        messages: says(`[[sim:tokens=20]] [[sim:${how}]]`),
        stream: true,
      })
      let text = ''
      const error = await failureOf(sdk, async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      })
      expect(text).not.toBe('')
      expectBroken(error)
    })

    test.each(breaking)(
      'is an APIError after the text before it in responses (%s)',
      async (how) => {
        const stream = await clientOf(sdk, stage).responses.create({
          model,
          input: `[[sim:tokens=20]] [[sim:${how}]]`,
          stream: true,
        })
        let text = ''
        const error = await failureOf(sdk, async () => {
          for await (const event of stream) {
            if (event.type === 'response.output_text.delta') text += event.delta
          }
        })
        expect(text).not.toBe('')
        expectBroken(error)
      },
    )

    test('is an APIError also when it breaks before any text', async () => {
      const client = clientOf(sdk, stage)
      const content = '[[sim:tokens=20]] [[sim:cut=3]]'
      const chat = { model, messages: says(content), stream: true } as const
      expectBroken(
        await failureOf(sdk, async () => {
          for await (const _ of await client.chat.completions.create(chat));
        }),
      )
      const responses = { model, input: content, stream: true } as const
      expectBroken(
        await failureOf(sdk, async () => {
          for await (const _ of await client.responses.create(responses));
        }),
      )
    })

    test.each(breaking)('fails the final response of the stream helper (%s)', async (how) => {
      const input = `[[sim:tokens=20]] [[sim:${how}]]`
      const error = await failureOf(sdk, () =>
        clientOf(sdk, stage).responses.stream({ model, input }).finalResponse(),
      )
      expectBroken(error)
    })
  })
}

interface Broken {
  code?: string | null | undefined
  type?: string | undefined
  message: string
  requestID: string | null | undefined
}

function expectBroken(error: Broken): void {
  expect([error.code, error.type]).toEqual(['upstream_error', 'upstream_error'])
  expect(error.requestID).toMatch(requestIdShape)
  expect(error.message).toEndWith(`(${error.requestID})`)
}
