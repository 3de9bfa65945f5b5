// An embeddings call of one input, in the encoding that SDKs request by default: Base64.

import { type Payload, prompt, tokensPerCall } from './shape.ts'

const dimensions = 1024

export const embeddings: Payload = {
  pathOf: () => '/v1/embeddings',
  model: 'txta-embed',
  headers: {},
  requestBody: (_, model = embeddings.model) =>
    JSON.stringify({ model, input: prompt, encoding_format: 'base64' }),
  jsonAnswer(model) {
    const data = [{ object: 'embedding', index: 0, embedding: vector() }]
    // Only input exists here; it is as much as input and output of the other styles.
    const tokens = tokensPerCall('json')
    const usage = { prompt_tokens: tokens, total_tokens: tokens }
    return JSON.stringify({ object: 'list', data, model, usage })
  },
  usageMark: '"prompt_tokens"',
}

/** Values of length 1 together, none of them round, so that the text is as long as a real one. */
function vector(): string {
  const values = Float32Array.from(
    { length: dimensions },
    (_, i) => Math.sin(i + 1) / Math.sqrt(dimensions / 2),
  )
  return Buffer.from(values.buffer).toString('base64')
}
