// The rerank request: what the gateway itself must know of it. Everything else passes.
import { Refusal } from '../../contract/errors.ts'
import type { CallQuantity, TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { templateTokens } from '../text/count-input.ts'
import { extraProblem, rulesWithout } from '../text/extra-fields.ts'
import { wholeNumberIn } from '../text/fields.ts'
import { maxDocuments } from './request-fields.ts'

const rules = rulesWithout(['query', 'documents'])

export function parseRerank({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const refused = extraProblem(fields, rules) ?? fieldProblem(fields)
  if (refused !== undefined) return refused
  const documents = documentsIn(fields)
  if (documents instanceof Refusal) return documents
  const query = String(fields['query'])
  const bytes = Buffer.byteLength(text)
  const inputs = documents.length
  return {
    interface: 'rerank',
    model,
    makes: 'rerank',
    stream: false,
    wantsUsage: true,
    body: text,
    fields,
    // Some upstreams count the query once for each document.
    inputTokens: documents.reduce(
      (sum, each) => sum + countTokens(each),
      countTokens(query) * inputs,
    ),
    inputBound: {
      maxTextTokens: bytes + (Buffer.byteLength(query) + templateTokens.perMessage) * inputs,
      images: 0,
      isOpen: false,
      inputs,
    },
    maxOutputTokens: 0,
    choices: 1,
    quantity: searchesFor(bytes, inputs),
  }
}

function fieldProblem(fields: Fields): Refusal | undefined {
  const { query, return_documents: isReturned } = fields
  if (typeof query !== 'string' || query.trim() === '') {
    return wrong('query', "'query' must be a non-empty string")
  }
  if (isReturned != null && typeof isReturned !== 'boolean') {
    return wrong('return_documents', "'return_documents' must be true or false")
  }
  for (const name of ['top_n', 'max_tokens_per_doc']) {
    const value = wholeNumberIn(fields, name)
    if (value instanceof Refusal) return value
  }
  return undefined
}

function documentsIn({ documents }: Fields): string[] | Refusal {
  if (!Array.isArray(documents) || documents.length === 0) {
    return wrong('documents', "'documents' must be a non-empty array")
  }
  if (documents.length > maxDocuments) {
    return wrong('documents', `'documents' has more than ${maxDocuments} entries`)
  }
  const texts: string[] = []
  for (const [index, document] of documents.entries()) {
    const text: unknown = isObject(document) ? document['text'] : document
    if (typeof text !== 'string') {
      return wrong('documents', `'documents[${index}]' must be a string or {text}`)
    }
    texts.push(text)
  }
  return texts
}

/** A search covers so many documents. Long ones count as several. */
const documentsPerSearch = 100
/** No document that counts once has more bytes than an upstream takes tokens, with a long query beside it. */
const bytesPerDocument = 255
function searchesFor(bytes: number, documents: number): CallQuantity {
  const counted = documents + Math.floor(bytes / bytesPerDocument)
  const max = Math.ceil(counted / documentsPerSearch)
  // No upstream counts more than one for each.
  return { counted: 1, max, plausible: counted, isEstimate: false }
}
