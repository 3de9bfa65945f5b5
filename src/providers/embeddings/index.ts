// Upstreams that speak the embeddings style.

import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { asBase64, asFloats } from '../../styles/embeddings/vectors.ts'
import { bearer } from '../common/bearer.ts'
import { FileBatches } from '../text/batches/file-batches.ts'
import { textProvider } from '../text/provider.ts'
import type { Json, ReadAnswer, TextStyle } from '../text/style.ts'
import { readUsage } from './usage.ts'

export const embeddingsStyle: TextStyle = {
  protocol: 'embeddings',
  path: '/embeddings',
  noun: 'a list of embeddings',
  headers: (_, upstream) => bearer(upstream),
  readAnswer,
}

export const embeddings = {
  ...textProvider(embeddingsStyle),
  batches: new FileBatches(embeddingsStyle),
}

/**
 * Vectors in the requested encoding: SDKs decode without checking, and not every upstream supports
 * both.
 */
function readAnswer(answer: Json, call: Pick<TextCall, 'fields'>): ReadAnswer | undefined {
  const { data, usage } = answer
  if (!Array.isArray(data) || data.length === 0) return undefined
  const wanted = call.fields['encoding_format'] === 'base64' ? 'string' : 'object'
  let changed = false
  const encoded: unknown[] = []
  for (const item of data) {
    if (!isObject(item)) return undefined
    const vector = item['embedding']
    if (typeof vector !== 'string' && !Array.isArray(vector)) return undefined
    if (typeof vector === wanted) {
      encoded.push(item)
      continue
    }
    const other = typeof vector === 'string' ? asFloats(vector) : asBase64(vector)
    if (other === undefined) return undefined
    changed = true
    encoded.push({ ...item, embedding: other })
  }
  const read = { reported: readUsage(usage), text: () => '' }
  return changed ? { ...read, body: JSON.stringify({ ...answer, data: encoded }) } : read
}
