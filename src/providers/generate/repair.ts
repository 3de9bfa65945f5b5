// Answers whose form breaks clients: parts that are null are left out. What has the right form stays the
// same object.
import { eachObject } from '../../lib/json/each-object.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../text/style.ts'

export function repairAnswer(answer: Json): Json {
  const { candidates: sent } = answer
  if (!Array.isArray(sent)) return answer
  const candidates = eachObject(sent, repairCandidate)
  return candidates === sent ? answer : { ...answer, candidates }
}

function repairCandidate(candidate: Json): Json {
  const { content } = candidate
  if (!isObject(content) || content['parts'] === undefined) return candidate
  const parts = eachObject(content['parts'], (part) => part)
  return parts === content['parts'] ? candidate : { ...candidate, content: { ...content, parts } }
}
