// The embeddings of an upstream as an answer in the style of the caller. Plain data in and out, so that a thread can
// do the work for a large one.
import { isObject } from '../../../lib/json/parse.ts'
import type { Json } from '../../../styles/common/conversation.ts'
import type { EmbeddingStyle } from '../../../styles/common/style.ts'
import { parseUpstream } from '../read-events.ts'

/** What is known of the call. */
export interface AskedVectors {
  /** Of its inputs. */
  count: number
  model: string
  fields: Json
  inputTokens: number
}

/** Undefined when it does not have one vector for each input. */
export function writeVectors(
  from: EmbeddingStyle,
  to: EmbeddingStyle,
  { count, ...context }: AskedVectors,
  body: string,
): string | undefined {
  const parsed = parseUpstream(body)
  const vectors = isObject(parsed) ? to.readVectors(parsed) : undefined
  return vectors?.length === count ? JSON.stringify(from.writeAnswer(vectors, context)) : undefined
}
