// The thread that translates large requests and reads large answers: of many small parts, they take hundreds of
// milliseconds. What is small is translated at once.
import { type Refusal, type RefusalCode, refuse } from '../../../contract/errors.ts'
import { assets } from '../../../lib/assets.ts'
import { containersIn } from '../../../lib/json/containers.ts'
import { WorkerThread } from '../../../lib/worker-thread.ts'
import type { Json } from '../../../styles/common/conversation.ts'
import { present } from '../../../styles/common/request-reading.ts'
import { RenamedTools } from '../../../styles/common/tool-names.ts'
import type { RequestWork, WrittenRequest } from '../../../styles/common/translate-request.ts'
import type {
  PlainResult,
  PlainWork,
  RequestResult,
  ThreadResult,
  ThreadWork,
} from './thread-work.ts'

/** Of any shape, this takes a few milliseconds. */
const shortText = 24 * 1024
/** So does this much, if it has few objects and lists. */
const mediumText = 128 * 1024
const fewContainers = 1_500

export const translationThread = new WorkerThread<ThreadWork, ThreadResult>(
  () => assets.translationThread,
  'large requests and answers',
)

/** Whether a request is translated in the thread. */
export const isLong = (body: string, fields: Json): boolean =>
  body.length > shortText &&
  (body.length > mediumText || containersIn(fields, fewContainers) >= fewContainers)

export async function translateLong(
  { from, to, envelopeKey, ...rest }: RequestWork,
  body: string,
  queueKey = '',
): Promise<WrittenRequest | Refusal> {
  const key = Buffer.from(envelopeKey).toString('base64')
  const work: PlainWork = { ...rest, from: from.name, to: to.name, envelopeKey: key }
  let result: RequestResult
  try {
    const message = { work: JSON.stringify(work), body }
    result = (await translationThread.run(queueKey, message)) as RequestResult
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
