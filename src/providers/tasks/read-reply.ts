// Sends a request and reads the whole reply, within a limit. Does not interpret it: only whether
// there is a reply, and why it could not be read.
import type { HttpAnswer, HttpPort } from '../../contract/http.ts'
import type { Stop, TaskUpstream } from '../../contract/provider.ts'
import { longTextBytes, readLong } from '../../lib/json/json-thread.ts'
import { isObject, parseJson } from '../../lib/json/parse.ts'
import type { WorkLimits } from '../../lib/json/scan.ts'

const maxAnswerBytes = 256 * 1024
const maxAnswerDepth = 64
/** Of a long answer: files, or a page of tasks. */
const longWork: WorkLimits = { total: 60e6, structure: 30e6 }

export type Json = Readonly<Record<string, unknown>>

export interface Reply {
  answer: HttpAnswer
  /** Empty when it could not be read, or was so long that it has more than words. */
  text: string
  /** Undefined when it is no JSON object. */
  body: Json | undefined
  /** Why it could not be read, as far as known. */
  problem?: {
    code: 'upstream_error' | 'upstream_invalid_response'
    message: string
    cause?: unknown
  }
}

/** No response began. */
interface NoReply {
  cause: unknown
}

/** The headers of every request besides the key. */
export const plainHeaders = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'model-gateway',
} as const

export const isGood = (status: number): boolean => status >= 200 && status < 300

export async function readReply(
  call: ReturnType<HttpPort['post']>,
  upstream: TaskUpstream,
  stop: Stop,
  maxBytes = maxAnswerBytes,
): Promise<Reply | NoReply> {
  stop.replyBy(call)
  let answer: HttpAnswer
  try {
    answer = await call.answer
  } catch (cause) {
    return { cause }
  }
  upstream.progress.touch()
  const encoding = answer.header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    answer.cancel()
    return unreadable(answer, 'the upstream compressed its answer although it was asked not to')
  }
  let whole: string | Uint8Array<ArrayBuffer> | undefined
  try {
    whole = await answer.text(maxBytes, upstream.progress, longTextBytes)
  } catch (cause) {
    const message = 'the upstream broke off its answer'
    const problem = { code: 'upstream_error', message, cause } as const
    return { answer, text: '', body: undefined, problem }
  }
  if (whole === undefined) return unreadable(answer, 'the upstream answered with too much')
  if (typeof whole !== 'string') return longReply(answer, whole, upstream.queueKey)
  return { answer, text: whole, body: bodyOf(parseJson(whole, maxAnswerDepth)) }
}

/** In a thread. */
async function longReply(
  answer: HttpAnswer,
  whole: Uint8Array<ArrayBuffer>,
  queueKey: string | undefined,
): Promise<Reply> {
  try {
    const parsed = await readLong(whole, maxAnswerDepth, longWork, true, queueKey)
    return { answer, text: '', body: bodyOf(parsed) }
  } catch (cause) {
    const problem = {
      code: 'upstream_error',
      message: 'the answer could not be read',
      cause,
    } as const
    return { answer, text: '', body: undefined, problem }
  }
}

const bodyOf = (parsed: object): Json | undefined =>
  'value' in parsed && isObject(parsed.value) ? parsed.value : undefined

function unreadable(answer: HttpAnswer, message: string): Reply {
  const problem = { code: 'upstream_invalid_response', message } as const
  return { answer, text: '', body: undefined, problem }
}
