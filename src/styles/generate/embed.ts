// Embeddings in the generate style: one content, or a batch of requests for one each.
import { Refusal } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import { numberIn, objectIn, textIn } from '../../lib/json/values.ts'
import type { Json } from '../common/conversation.ts'
import { type Losses, notCarried } from '../common/losses.ts'
import type { EmbeddingRequest, EmbeddingStyle } from '../common/style.ts'
import { camelCased, loseOthers } from './field-names.ts'

const known = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality', 'requests'])
const purposes = { query: 'RETRIEVAL_QUERY', document: 'RETRIEVAL_DOCUMENT' } as const

export const generateEmbeddings: EmbeddingStyle = {
  name: 'generate',
  method: 'batchEmbedContents',
  readRequest,
  writeRequest: ({ inputs, dimensions, purpose }, model) => ({
    requests: inputs.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(purpose !== undefined && { taskType: purposes[purpose.value] }),
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    })),
  }),
  readVectors(answer) {
    const { embedding, embeddings } = answer
    const all: unknown[] = Array.isArray(embeddings) ? embeddings : [embedding]
    const vectors = all.map((each) => (isObject(each) ? each['values'] : undefined))
    return vectors.every((each) => Array.isArray(each)) ? vectors : undefined
  },
  writeAnswer(vectors, { fields, inputTokens }) {
    const made = vectors.map((values) => ({ values }))
    const usageMetadata = { promptTokenCount: inputTokens, totalTokenCount: inputTokens }
    return fields['requests'] == null
      ? { embedding: made[0], usageMetadata }
      : { embeddings: made, usageMetadata }
  },
}

function readRequest(fields: Json, losses: Losses): EmbeddingRequest | Refusal {
  const { requests } = fields
  const isBatch = Array.isArray(requests)
  const inputs: string[] = []
  let first: Json | undefined
  for (const [index, each] of (isBatch ? requests.filter(isObject) : [fields]).entries()) {
    const request = camelCased(each)
    const at = isBatch ? `requests[${index}].` : ''
    const text = textOf(request, at, losses)
    if (text instanceof Refusal) return text
    inputs.push(text)
    loseOthers(request, known, losses)
    if (request['title'] != null) losses.add('title')
    first ??= request
    for (const name of ['outputDimensionality', 'taskType']) {
      if ((request[name] ?? undefined) !== (first[name] ?? undefined)) {
        return notCarried(at + name, 'all requests of a batch must have the same')
      }
    }
  }
  const dimensions = numberIn(first ?? {}, 'outputDimensionality')
  return {
    inputs,
    ...(dimensions !== undefined && { dimensions }),
    ...purposeOf(textIn(first ?? {}, 'taskType'), losses),
  }
}

function purposeOf(task: string | undefined, losses: Losses): Pick<EmbeddingRequest, 'purpose'> {
  if (task === undefined) return {}
  const field = 'taskType'
  if (task === purposes.query) return { purpose: { value: 'query', field } }
  if (task === purposes.document) return { purpose: { value: 'document', field } }
  losses.add(field)
  return {}
}

/** Several parts are one input. */
function textOf(request: Json, at: string, losses: Losses): string | Refusal {
  const parts = objectIn(request, 'content')?.['parts']
  const list: unknown[] = Array.isArray(parts) ? parts : [parts]
  const texts: string[] = []
  for (const part of list) {
    const text = typeof part === 'string' ? part : isObject(part) ? part['text'] : undefined
    if (typeof text !== 'string') {
      return notCarried(`${at}content.parts`, 'only text can be translated')
    }
    texts.push(text)
  }
  if (texts.length > 1) losses.add('content.parts')
  return texts.join('\n')
}
