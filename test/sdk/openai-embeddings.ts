// What users of the `openai` package do with embeddings.
import { describe, expect, test } from 'bun:test'
import { clientOf, type OpenAIPackage } from './openai-client.ts'
import { expectPaid, models, type Stage } from './stage.ts'

export function describeEmbeddings(sdk: OpenAIPackage, stage: Stage): void {
  describe('embeddings', () => {
    const model = models.embedding

    test('are the same vectors in base64, which is the default, and as numbers', async () => {
      const client = clientOf(sdk, stage)
      const input = ['one', 'two']
      const usual = await client.embeddings.create({ model, input })
      const floats = await client.embeddings.create({ model, input, encoding_format: 'float' })
      expect(usual.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
        [0, 1024],
        [1, 1024],
      ])
      for (const [i, { embedding }] of usual.data.entries()) {
        expect(Array.from(Float32Array.from(floats.data[i]!.embedding))).toEqual([...embedding])
      }
      const paid = { input: usual.usage.prompt_tokens, output: 0 }
      const row = await expectPaid(stage, usual._request_id, paid)
      expect([row.interface, row.model]).toEqual(['embeddings', model])
    })

    test('have as many dimensions as asked for', async () => {
      const { data } = await clientOf(sdk, stage).embeddings.create({
        model,
        input: 'one',
        dimensions: 64,
      })
      expect(data[0]?.embedding).toHaveLength(64)
    })

    test('take lists of token numbers', async () => {
      const { data, usage } = await clientOf(sdk, stage).embeddings.create({
        model,
        input: [
          [1, 2, 3],
          [4, 5],
        ],
      })
      expect([data.length, usage.prompt_tokens]).toEqual([2, 5])
    })
  })
}
