// Upstreams that order documents by how well they answer a query. Makers differ in small things: the list of
// results has two names, and some report searches, others tokens.
import { randomUUID } from 'node:crypto'
import { withoutCosts } from '../../contract/cost-fields.ts'
import type { Reported } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { tokenCount } from '../../styles/common/answer-usage.ts'
import type { AnsweredCall, CallAnswer, CallStyle } from '../calls/style.ts'
import type { Json } from '../text/style.ts'

export const rerankStyle: CallStyle = {
  protocol: 'rerank',
  path: '/rerank',
  noun: 'a list of ranked documents',
  fieldsFor,
  readAnswer,
  repeatsRequest: ({ fields }) => fields['return_documents'] === true,
}

/** Upstreams take plain texts; the gateway gives the documents back itself. */
function fieldsFor({ fields }: Pick<TextCall, 'fields'>): Record<string, string> | undefined {
  const documents = documentsIn(fields)
  return {
    ...(fields['return_documents'] !== undefined && { return_documents: '' }),
    ...(documents.some(isObject) && { documents: JSON.stringify(documents.map(textOf)) }),
  }
}

const documentsIn = ({ documents }: Json): readonly unknown[] =>
  Array.isArray(documents) ? documents : []

const textOf = (document: unknown): unknown => (isObject(document) ? document['text'] : document)

interface Result {
  index: number
  relevance_score: number
}

function readAnswer(answer: Json, { fields, model }: AnsweredCall): CallAnswer | undefined {
  const documents = documentsIn(fields)
  const results = resultsIn(answer, documents.length)
  if (results === undefined) return undefined
  const { top_n: top, return_documents: isReturned } = fields
  const shown = typeof top === 'number' ? results.slice(0, top) : results
  const reported = reportedBy(answer)
  const body = {
    id: typeof answer['id'] === 'string' ? answer['id'] : `rerank-${randomUUID()}`,
    model,
    results: isReturned
      ? shown.map((each) => ({ ...each, document: { text: textOf(documents[each.index]) } }))
      : shown,
    usage: { ...usageIn(answer), search_units: reported.usage?.quantity ?? 1 },
  }
  return { reported, body: JSON.stringify(body) }
}

/**
 * By how well they fit, each document once: one that stood there many times would make a large answer of a small
 * one. Undefined when it is no list of documents that were sent.
 */
function resultsIn(answer: Json, documents: number): Result[] | undefined {
  const given = answer['results'] ?? answer['data']
  if (!Array.isArray(given)) return undefined
  const results: Result[] = []
  for (const item of given as unknown[]) {
    if (!isObject(item)) return undefined
    const { index, relevance_score, score } = item
    const found = relevance_score ?? score
    if (typeof found !== 'number' || !Number.isSafeInteger(index)) return undefined
    if (Number(index) < 0 || Number(index) >= documents) return undefined
    results.push({ index: Number(index), relevance_score: found })
  }
  results.sort((a, b) => b.relevance_score - a.relevance_score)
  const seen = new Set<number>()
  return results.filter(({ index }) => !seen.has(index) && seen.add(index))
}

const usageIn = ({ usage }: Json): object =>
  isObject(usage) ? (withoutCosts(usage) as object) : {}

function reportedBy({ usage, meta }: Json): Reported {
  const billed = isObject(meta) && isObject(meta['billed_units']) ? meta['billed_units'] : {}
  const said: Json = { ...billed, ...(isObject(usage) ? usage : {}) }
  const searches = tokenCount(said['search_units'])
  const inputTokens =
    tokenCount(said['prompt_tokens']) ??
    tokenCount(said['input_tokens']) ??
    tokenCount(said['total_tokens'])
  const raw = Object.keys(said).length === 0 ? undefined : said
  if (searches === undefined && inputTokens === undefined) return { usage: undefined, raw }
  return {
    usage: {
      inputTokens,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      ...(searches !== undefined && { quantity: searches }),
    },
    raw,
  }
}
