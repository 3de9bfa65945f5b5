// Converts an answer of the generate style to a stream and back, for upstreams that mix up the two,
// and for those that send a stream as a list.
import { isObject } from '../../lib/json/parse.ts'
import { mergeUsage } from '../../styles/common/answer-usage.ts'
import {
  blockReasonOf,
  candidatesOf,
  finishReasonOf,
  partsOf,
  usageIn,
} from '../../styles/generate/wire.ts'
import type { Json } from '../text/style.ts'

/** A whole answer is a stream of one event. */
export const fromAnswer = (answer: Json): string[] => [`data: ${JSON.stringify(answer)}\n\n`]

/** Undefined when a candidate in it has no finish reason. */
export function toAnswer(events: readonly Json[]): Json | undefined {
  const failed = events.find(({ error }) => isObject(error) || typeof error === 'string')
  if (failed !== undefined) return failed
  const gathered = new Map<unknown, Gathered>()
  let answer: Json = {}
  let usage: unknown
  for (const event of events) {
    usage = mergeUsage(usage, usageIn(event))
    answer = { ...answer, ...event }
    for (const candidate of candidatesOf(event)) gather(gathered, candidate)
  }
  const whole = [...gathered.values()]
  const isEnded = whole.every(({ fields }) => finishReasonOf(fields) !== undefined)
  if (!isEnded || (whole.length === 0 && blockReasonOf(answer) === undefined)) return undefined
  const { usage_metadata: _, ...rest } = answer
  return {
    ...rest,
    ...(whole.length > 0 && { candidates: whole.map(candidateOf) }),
    ...(usage !== undefined && { usageMetadata: usage }),
  }
}

interface Gathered {
  fields: Record<string, unknown>
  content: Record<string, unknown>
  parts: Record<string, unknown>[]
}

function gather(known: Map<unknown, Gathered>, candidate: Json): void {
  const index = candidate['index'] ?? 0
  const own = known.get(index) ?? { fields: {}, content: {}, parts: [] }
  known.set(index, own)
  const { content } = candidate
  for (const part of partsOf(candidate)) addPart(own.parts, part)
  Object.assign(own.fields, candidate)
  if (isObject(content)) Object.assign(own.content, content)
}

/** Texts of one kind are one text; a signature ends it. */
function addPart(parts: Record<string, unknown>[], part: Json): void {
  const last = parts.at(-1)
  if (last !== undefined && isText(last) && isText(part) && last['thought'] === part['thought']) {
    last['text'] = `${last['text']}${part['text']}`
  } else parts.push({ ...part })
}

const textFields = new Set(['text', 'thought'])

const isText = (part: Json): boolean =>
  typeof part['text'] === 'string' && Object.keys(part).every((name) => textFields.has(name))

const candidateOf = ({ fields, content, parts }: Gathered): Json => ({
  ...fields,
  content: { ...content, parts },
})
