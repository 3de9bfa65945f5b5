// Embeddings in the generate style: one content, or a batch of them.
import { vectorOf } from '../embeddings/vector.ts'
import { asList, asObject, invalid, isFault, type Json, missing } from '../http/fields.ts'
import { type Answer, type Call, type Fault, jsonAnswer } from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { countTokens } from '../text/tokens.ts'
import { field, readPart } from './request.ts'

const usualDimensions = 768
const maxDimensions = 4096
const maxRequests = 100

interface Vector {
  values: number[]
  tokens: number
}

function embed(request: Json): Vector | Fault {
  const parts = asList(asObject(request['content'])['parts'])
  if (parts.length === 0) return missing('content')
  const text = parts
    .flatMap((part) => readPart(asObject(part)))
    .map((part) => (part.kind === 'text' ? part.text : part.reference))
    .join('\n')
  const dimensions = Number(field(request, 'outputDimensionality') ?? usualDimensions)
  if (!Number.isSafeInteger(dimensions) || dimensions < 1 || dimensions > maxDimensions) {
    return invalid('outputDimensionality', `must be a whole number from 1 to ${maxDimensions}.`)
  }
  return { values: [...vectorOf(text, dimensions)], tokens: countTokens(text) }
}

/** `write` gets as many vectors as there were requests. */
function answer(call: Call, requests: readonly Json[], write: (all: Vector[]) => object): Answer {
  const fault = failureOf(call.directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const made = requests.map(embed)
  const wrong = made.find(isFault)
  if (wrong !== undefined) return { kind: 'fault', fault: wrong }
  const vectors = made as Vector[]
  const promptTokens = vectors.reduce((sum, { tokens }) => sum + tokens, 0)
  const usageMetadata = { promptTokenCount: promptTokens, totalTokenCount: promptTokens }
  const body = { ...write(vectors), ...(!call.directives.noUsage && { usageMetadata }) }
  return jsonAnswer(body, { promptTokens, completionTokens: 0 })
}

export const embedOne = (call: Call): Answer =>
  answer(call, [call.fields], ([vector]) => ({ embedding: { values: vector!.values } }))

export function embedBatch(call: Call): Answer {
  const requests = asList(call.fields['requests']).map(asObject)
  if (requests.length === 0) return { kind: 'fault', fault: missing('requests') }
  if (requests.length > maxRequests) {
    const fault = invalid('requests', `At most ${maxRequests} requests can be in one batch.`)
    return { kind: 'fault', fault }
  }
  const name = `models/${decodeURIComponent(call.params['model'] ?? '')}`
  const other = requests.find(({ model }) => model !== name)
  if (other !== undefined) {
    return { kind: 'fault', fault: invalid('requests', `model must be ${name} in every request.`) }
  }
  return answer(call, requests, (vectors) => ({
    embeddings: vectors.map(({ values }) => ({ values })),
  }))
}
