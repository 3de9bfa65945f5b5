// The embeddings protocol as an upstream speaks it.

import { isFault } from '../http/fields.ts'
import { type Answer, type Call, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { plainProtocol } from '../text/plain-protocol.ts'
import { countTokens } from '../text/tokens.ts'
import { type Input, readEmbeddingsRequest } from './request.ts'
import { base64Of, vectorOf } from './vector.ts'

export const embeddings: ProtocolMaker = () => ({
  protocol: 'embeddings',
  ...plainProtocol,
  routes: [{ method: 'POST', path: /^\/v1\/embeddings$/, answer }],
})

function answer({ fields, directives }: Call): Answer {
  const request = readEmbeddingsRequest(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const { model, inputs, dimensions, base64 } = request
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, dimensions)
    return { object: 'embedding', index, embedding: base64 ? base64Of(vector) : [...vector] }
  })
  const promptTokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0)
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  const body = { object: 'list', data, model, ...(!directives.noUsage && { usage }) }
  return jsonAnswer(body, { promptTokens, completionTokens: 0 })
}

const tokensOf = (input: Input): number =>
  typeof input === 'string' ? countTokens(input) : input.length
