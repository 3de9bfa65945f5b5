// Translates large requests in a thread of their own: read, written and encoded, a request of many small
// parts takes hundreds of milliseconds. What is small is translated at once.
import { type Refusal, type RefusalCode, refuse } from '../../contract/errors.ts'
import { assets } from '../../lib/assets.ts'
import { containersIn } from '../../lib/json/containers.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import type { Json } from '../../styles/common/conversation.ts'
import { present } from '../../styles/common/request-reading.ts'
import type { AnswerNames } from '../../styles/common/tool-names.ts'
import type { RequestWork, WrittenRequest } from '../../styles/common/translate-request.ts'
import type { LongResult, LongWork, PlainResult, PlainWork } from './translation-worker.ts'

/** Of any shape, this takes a few milliseconds. */
const shortText = 64 * 1024
/** So does this much, if it has few objects and lists. */
const mediumText = 512 * 1024
const fewContainers = 4_000

const thread = new WorkerThread<LongWork, LongResult>(
  () => assets.translationThread,
  'large requests',
)

/** Whether a request is translated in the thread. */
export const isLong = (body: string, fields: Json): boolean =>
  body.length > shortText &&
  (body.length > mediumText || containersIn(fields, fewContainers) >= fewContainers)

export async function translateLong(
  { from, to, envelopeKey, ...rest }: RequestWork,
  body: string,
): Promise<WrittenRequest | Refusal> {
  const key = Buffer.from(envelopeKey).toString('base64')
  const work: PlainWork = { ...rest, from: from.name, to: to.name, envelopeKey: key }
  let result: LongResult
  try {
    result = await thread.run({ work: JSON.stringify(work), body })
  } catch (cause) {
    const why = 'the request could not be translated for its upstream; try again'
    return refuse('overloaded', why, { cause, retryAfterSeconds: 1 })
  }
  if ('code' in result) {
    const { code, message, param } = result
    return refuse(code as RefusalCode, message, present({ param }))
  }
  const { answerTool, ...written } = JSON.parse(result.rest) as PlainResult
  return { ...written, body: result.body, names: new RenamedTools(answerTool, result.names) }
}

/** Names of tools, parsed when an answer has the first one. */
class RenamedTools implements AnswerNames {
  readonly answerTool: string | undefined
  #text: string
  #originals: Map<string, ReturnType<AnswerNames['original']>> | undefined

  constructor(answerTool: string | undefined, text: string) {
    this.answerTool = answerTool
    this.#text = text
  }

  original(sent: string): ReturnType<AnswerNames['original']> {
    this.#originals ??= new Map(JSON.parse(this.#text))
    this.#text = ''
    return this.#originals.get(sent) ?? { name: sent, freeForm: false }
  }
}
