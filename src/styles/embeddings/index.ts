// The embeddings style: a list of texts, and a list of vectors as numbers or Base64.
import type { Refusal } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import { numberIn, objectsIn } from '../../lib/json/values.ts'
import type { Json } from '../common/conversation.ts'
import { type Losses, notCarried } from '../common/losses.ts'
import type { EmbeddingRequest, EmbeddingStyle } from '../common/style.ts'
import { asBase64 } from './vectors.ts'

/** The user is the gateway's to know, the encoding is that of the answer. */
const known = new Set(['model', 'input', 'dimensions', 'encoding_format', 'user', 'text_type'])

export const embeddings: EmbeddingStyle = {
  name: 'embeddings',
  readRequest,
  writeRequest(request, model, losses) {
    const { inputs, dimensions, purpose } = request
    if (purpose !== undefined) losses.add(purpose.field)
    return {
      model,
      input: inputs,
      encoding_format: 'float',
      ...(dimensions !== undefined && { dimensions }),
    }
  },
  readVectors,
  writeAnswer(vectors, { model, fields, inputTokens }) {
    const isText = fields['encoding_format'] === 'base64'
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: isText ? asBase64(vector) : vector,
      })),
      model,
      usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
    }
  },
}

function readRequest(fields: Json, losses: Losses): EmbeddingRequest | Refusal {
  const { input, text_type: type } = fields
  const inputs = Array.isArray(input) ? input : [input]
  if (!inputs.every((each) => typeof each === 'string')) {
    return notCarried('input', 'numbered tokens have no counterpart in another style')
  }
  losses.addUnknown(fields, known)
  const dimensions = numberIn(fields, 'dimensions')
  const isKnown = type === 'query' || type === 'document'
  if (type != null && !isKnown) losses.add('text_type')
  return {
    inputs,
    ...(dimensions !== undefined && { dimensions }),
    ...(isKnown && { purpose: { value: type, field: 'text_type' } }),
  }
}

function readVectors(answer: Json): unknown[][] | undefined {
  const items = objectsIn(answer, 'data')
  const vectors = new Array<unknown[]>(items.length)
  for (const [position, { index, embedding }] of items.entries()) {
    const at = typeof index === 'number' ? index : position
    if (!Array.isArray(embedding) || vectors[at] !== undefined || at >= items.length) {
      return undefined
    }
    vectors[at] = embedding
  }
  return isObject(answer) && items.length > 0 ? vectors : undefined
}
