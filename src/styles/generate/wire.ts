// Field names of the generate style that both forwarding and translation read. Upstreams and callers
// may write each of them in camel case or with underscores.
import { isObject } from '../../lib/json/parse.ts'
import { type IsForeign, mapObjects } from '../common/envelope.ts'
import { noSeal } from './field-names.ts'

type Json = Readonly<Record<string, unknown>>

/** `finishReason` or `finish_reason`, whichever is there. */
export const eitherOf = (holder: Json, camel: string, snake: string): unknown =>
  holder[camel] ?? holder[snake]

/** Why a candidate stopped; undefined while it goes on. */
export function finishReasonOf(candidate: unknown): string | undefined {
  if (!isObject(candidate)) return undefined
  const reason = eitherOf(candidate, 'finishReason', 'finish_reason')
  return typeof reason === 'string' && reason !== '' && reason !== unspecified ? reason : undefined
}

const unspecified = 'FINISH_REASON_UNSPECIFIED'

/** Why the request itself was refused, in an answer without candidates. */
export function blockReasonOf(answer: Json): string | undefined {
  const feedback = eitherOf(answer, 'promptFeedback', 'prompt_feedback')
  const reason = isObject(feedback) ? eitherOf(feedback, 'blockReason', 'block_reason') : undefined
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}

export const candidatesOf = ({ candidates }: Json): readonly Json[] =>
  Array.isArray(candidates) ? candidates.filter(isObject) : []

/** The parts of a candidate's content. */
export function partsOf({ content }: Json): readonly Json[] {
  const parts = isObject(content) ? content['parts'] : undefined
  return Array.isArray(parts) ? parts.filter(isObject) : []
}

export const usageIn = (answer: Json): unknown =>
  eitherOf(answer, 'usageMetadata', 'usage_metadata')

/** Without seals of other upstreams. The parts stay; one that has nothing but a seal goes. */
export const stripSeals = (request: Json, isForeign: IsForeign): Json =>
  mapObjects(request, 'contents', (content) => {
    let hasCall = false
    const stripped = mapObjects(content, 'parts', (part) => {
      const isCall = isObject(eitherOf(part, 'functionCall', 'function_call'))
      const isFirstCall = isCall && !hasCall
      hasCall ||= isCall
      const seal = eitherOf(part, 'thoughtSignature', 'thought_signature')
      const mayChange = seal == null ? isFirstCall || part['thought'] === true : seal !== noSeal
      if (!mayChange || !isForeign(seal)) return part
      const { thoughtSignature: _, thought_signature: __, ...rest } = part
      // Upstreams that look for the seal of a call accept this instead of one.
      if (isCall) return isFirstCall ? { ...rest, thoughtSignature: noSeal } : rest
      return rest['text'] === '' || rest['thought'] === true ? undefined : rest
    })
    const { parts } = stripped
    return stripped !== content && Array.isArray(parts) && parts.length === 0 ? undefined : stripped
  })

/** Where the gateway notes the number of searches beside the counts of tokens. */
export const searchField = 'web_search_queries'

/** Searches that candidates are grounded in. */
export function searchesIn(candidates: readonly Json[]): number {
  let sum = 0
  for (const candidate of candidates) {
    const grounding = eitherOf(candidate, 'groundingMetadata', 'grounding_metadata')
    if (!isObject(grounding)) continue
    const queries = eitherOf(grounding, 'webSearchQueries', 'web_search_queries')
    if (Array.isArray(queries)) sum += queries.length
  }
  return sum
}
