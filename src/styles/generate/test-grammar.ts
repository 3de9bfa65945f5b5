// Checks a stream of the generate style: partial answers of one candidate, the last of them with the
// reason and the token counts, and nothing behind it.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'

export function answersOf(stream: string): Json[] {
  if (stream.startsWith('[')) return JSON.parse(stream) as Json[]
  return stream
    .split(/\r?\n\r?\n/)
    .filter((text) => text !== '' && !text.startsWith(':'))
    .map((text) => {
      if (!text.startsWith('data: ')) throw new Error(`not an event: ${text}`)
      return JSON.parse(text.slice('data: '.length)) as Json
    })
}

/** Undefined when the stream is one whole answer. */
export function generateProblem(stream: string): string | undefined {
  const answers = answersOf(stream)
  const first = answers.find(({ error }) => error === undefined)
  for (const [at, answer] of answers.entries()) {
    const problem = answerProblem(answer, first, at === answers.length - 1)
    if (problem !== undefined) return `answer ${at}: ${problem}`
  }
  return answers.length === 0 ? 'no answer' : undefined
}

function answerProblem(answer: Json, first: Json | undefined, isLast: boolean): string | undefined {
  if (answer['error'] !== undefined) return isLast ? undefined : 'an error before the end'
  for (const name of ['responseId', 'modelVersion'] as const) {
    if (typeof answer[name] !== 'string' || answer[name] !== first?.[name]) return `another ${name}`
  }
  const [candidate, ...more] = answer['candidates'] as Json[]
  if (candidate === undefined || more.length > 0) return 'not one candidate'
  const { content, finishReason } = candidate
  if ((finishReason !== undefined) !== isLast) return `reason ${finishReason}`
  if (isLast && !isObject(answer['usageMetadata'])) return 'no usage'
  if (content === undefined) return 'no content'
  const { role, parts } = content as { role: string; parts: Json[] }
  if (role !== 'model' || parts.length === 0) return 'no parts'
  return parts.every((part) => isPart(part, isLast)) ? undefined : 'an odd part'
}

/** Only the last answer may have an empty text: clients want some part there. */
function isPart(part: Json, isLast: boolean): boolean {
  const { text, functionCall: call, thoughtSignature } = part
  if (thoughtSignature !== undefined && !isBase64(thoughtSignature)) return false
  if (isObject(call)) {
    return typeof call['name'] === 'string' && call['name'] !== '' && isObject(call['args'])
  }
  return typeof text === 'string' && (text !== '' || isLast || thoughtSignature !== undefined)
}

/** The style declares it as bytes, which its SDKs decode strictly. */
const isBase64 = (value: unknown): boolean =>
  typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value
