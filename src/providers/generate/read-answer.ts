// A whole answer of the generate style: candidates, or the vectors of an embedding.
import type { Reported } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { ServedAs } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { readUsage as read } from '../../styles/generate/usage.ts'
import {
  blockReasonOf,
  candidatesOf,
  eitherOf,
  finishReasonOf,
  partsOf,
  searchesIn,
  searchField,
  usageIn,
} from '../../styles/generate/wire.ts'
import { servedBy } from '../common/served-as.ts'
import { type Json, type ReadAnswer, reportedBy } from '../text/style.ts'

export function readAnswer(
  answer: Json,
  { makes }: Pick<TextCall, 'makes'>,
): ReadAnswer | undefined {
  if (makes === 'embedding') return readVectors(answer)
  const candidates = candidatesOf(answer)
  const isBlocked = candidates.length === 0 && blockReasonOf(answer) !== undefined
  const isStopped = candidates.some((each) => finishReasonOf(each) !== undefined)
  if (!isBlocked && !isStopped) return undefined
  const usage = usageWithSearches(answer, candidates)
  return {
    reported: isBlocked && usage == null ? nothing : readUsage(usage),
    finishReason: isBlocked ? blocked : firstReason(candidates),
    text: () => candidates.flatMap(partsOf).map(textOf).join(''),
  }
}

export const blocked = 'content_filter'

/** Of the first candidate. The style has no word of its own for an answer that ends with calls. */
export function firstReason(candidates: readonly Json[]): string | undefined {
  const first = candidates.find(({ index }) => index === undefined || index === 0)
  const reason = finishReasonOf(first)
  return reason === 'STOP' && partsOf(first!).some(isCall) ? 'tool_calls' : reason
}

const isCall = (part: Json): boolean => eitherOf(part, 'functionCall', 'function_call') != null

/** Searches are told beside the usage: their number is put into it. */
export function usageWithSearches(answer: Json, candidates: readonly Json[]): unknown {
  const usage = usageIn(answer)
  const searches = searchesIn(candidates)
  return searches === 0 ? usage : { ...(isObject(usage) && usage), [searchField]: searches }
}

/** Of a request that was refused: no output, and no input that was reported. */
export const nothing: Reported = {
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  raw: undefined,
}

export const readUsage = reportedBy(read, servedByTraffic)

const traffic: Readonly<Record<string, string>> = {
  ON_DEMAND: 'standard',
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
}

function servedByTraffic(usage: unknown): ServedAs | undefined {
  const type = isObject(usage) ? eitherOf(usage, 'trafficType', 'traffic_type') : undefined
  if (typeof type !== 'string' || type.endsWith('UNSPECIFIED')) return undefined
  return servedBy(Object.hasOwn(traffic, type) ? traffic[type] : type)
}

function textOf(part: Json): string {
  const call = eitherOf(part, 'functionCall', 'function_call')
  const code = eitherOf(part, 'executableCode', 'executable_code')
  const { text } = part
  return [
    typeof text === 'string' ? text : '',
    call == null ? '' : JSON.stringify(call),
    code == null ? '' : JSON.stringify(code),
  ].join('')
}

/** One vector, or one for each request of a batch. Many upstreams report no usage here. */
function readVectors(answer: Json): ReadAnswer | undefined {
  const { embedding, embeddings } = answer
  const vectors = Array.isArray(embeddings) ? embeddings : [embedding]
  if (vectors.length === 0 || !vectors.every(isVector)) return undefined
  const reported = readUsage(usageIn(answer))
  const { usage } = reported
  return {
    reported: { ...reported, usage: usage && { ...usage, outputTokens: 0 } },
    text: () => '',
  }
}

const isVector = (value: unknown): boolean =>
  isObject(value) && Array.isArray(value['values']) && value['values'].length > 0
