// The rerank protocol as an upstream speaks it: documents that share more words with the query come first.
import { asObject, asText, invalid, isFault, type Json, missing } from '../http/fields.ts'
import { type Answer, type Call, type Fault, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { plainProtocol } from '../text/plain-protocol.ts'
import { countTokens } from '../text/tokens.ts'

const documentsPerSearch = 100
const maxDocuments = 10_000

export const rerank: ProtocolMaker = () => ({
  protocol: 'rerank',
  ...plainProtocol,
  routes: [{ method: 'POST', path: /^\/v1\/rerank$/, answer }],
})

function answer({ id, fields, directives }: Call): Answer {
  const request = readRequest(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const { query, documents, top } = request
  const wanted = wordsOf(query)
  const results = documents
    .map((text, index) => ({ index, relevance_score: scoreOf(wanted, text) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top)
  const promptTokens = documents.reduce((sum, text) => sum + countTokens(text), countTokens(query))
  const billed_units = { search_units: Math.ceil(documents.length / documentsPerSearch) }
  const meta = { api_version: { version: '2' }, billed_units }
  const body = { id, results, ...(!directives.noUsage && { meta }) }
  return jsonAnswer(body, { promptTokens, completionTokens: 0 })
}

function readRequest(fields: Json): { query: string; documents: string[]; top: number } | Fault {
  if (asText(fields['model']) === '') return missing('model')
  const query = asText(fields['query'])
  if (query === '') return missing('query')
  const { documents, top_n: top } = fields
  if (!Array.isArray(documents) || documents.length === 0) return missing('documents')
  if (documents.length > maxDocuments) return invalid('documents', 'There are too many documents.')
  const texts = documents.map((each: unknown) => asText(asObject(each)['text'] ?? each))
  if (top != null && !(Number.isSafeInteger(top) && Number(top) >= 1)) {
    return invalid('top_n', "'top_n' must be a whole number of at least 1.")
  }
  return { query, documents: texts, top: top == null ? texts.length : Number(top) }
}

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== ''),
  )

/** The part of the query's words that the document has; shorter documents are a little better. */
function scoreOf(wanted: ReadonlySet<string>, text: string): number {
  const words = wordsOf(text)
  const shared = [...wanted].filter((word) => words.has(word)).length
  const score = shared / Math.max(1, wanted.size) - words.size / 1e6
  return Math.round(Math.max(0, score) * 1e6) / 1e6
}
