// One question to the batch API of an upstream, and its answer as JSON.
import type { BatchResult } from '../../../contract/batches/upstream.ts'
import type { HttpAnswer } from '../../../contract/http.ts'
import type { BatchReport, Stop, Upstream, UpstreamError } from '../../../contract/provider.ts'
import type { TextCall } from '../../../contract/requests.ts'
import { isObject } from '../../../lib/json/parse.ts'
import { byteLines } from '../../../lib/text/byte-lines.ts'
import { failure, notAnswered, readTextError, upstreamRequestId } from '../../common/errors.ts'
import { isPlainId } from '../../tasks/fields.ts'
import { isGood, plainHeaders } from '../../tasks/read-reply.ts'
import { longAnswerBytes } from '../large/long-answers.ts'
import type { LineResult } from '../large/thread-work.ts'
import { translationThread } from '../large/translation-thread.ts'
import type { Json, TextStyle } from '../style.ts'
import { type ResultForm, resultReaders } from './result-line.ts'

const maxAnswerBytes = 8 * 1024 * 1024
/** Of one result. */
const maxLineBytes = 64 * 1024 * 1024

type Sent = ReturnType<Upstream['http']['post']>

/** `cause`: whether it has arrived is not known. */
type Asked = { body: Json } | { error: UpstreamError; cause?: unknown }

export const headersFor = (style: TextStyle, upstream: Upstream): Record<string, string> => ({
  ...style.headers(noCall as unknown as TextCall, upstream),
  ...plainHeaders,
})

const noCall: Partial<TextCall> = { model: '', stream: false, body: '{}', fields: {} }

/** What upstreams refuse before they do anything; other failures say nothing about that. */
const isFinal = ({ httpStatus: status = 500 }: UpstreamError): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429 && status !== 499

export async function askJson(sent: Sent, upstream: Upstream, stop: Stop): Promise<Asked> {
  stop.replyBy(sent)
  let answer: HttpAnswer
  try {
    answer = await sent.answer
  } catch (cause) {
    return { error: notAnswered(cause), cause }
  }
  upstream.progress.touch()
  try {
    const text = (await answer.text(maxAnswerBytes, upstream.progress)) ?? ''
    if (!isGood(answer.status)) return { error: readTextError(answer, text) }
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { body: value }
  } catch (cause) {
    const message = 'the upstream broke off its answer'
    return { error: failure('upstream_error', message, upstreamRequestId(answer), cause), cause }
  }
  return { error: notOne(upstreamRequestId(answer)), cause: undefined }
}

export const notOne = (requestId?: string): UpstreamError =>
  failure(
    'upstream_invalid_response',
    'the upstream answered with something that is not a batch',
    requestId,
  )

export const idIn = ({ id }: Json): string | undefined =>
  typeof id === 'string' && isPlainId(id) ? id : undefined

/** What became of a create. */
export function createdIn(asked: Asked) {
  if ('error' in asked) {
    const kind = !('cause' in asked) && isFinal(asked.error) ? 'refused' : 'unknown'
    return { kind, error: asked.error } as const
  }
  const upstreamId = idIn(asked.body)
  if (upstreamId === undefined) return { kind: 'unknown', error: notOne() } as const
  return { kind: 'created', upstreamId } as const
}

export function reportIn(asked: Asked, read: (batch: Json) => BatchReport | undefined) {
  if ('error' in asked) return { kind: 'failed', error: asked.error } as const
  const report = read(asked.body)
  if (report === undefined) return { kind: 'failed', error: notOne() } as const
  return { kind: 'report', report } as const
}

/** Only the time that is spent waiting for the upstream counts: results are read as slowly as they are adopted. */
async function within<T>(ms: number, asked: { cancel(): void }, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => asked.cancel(), ms)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/** What the lines of a file say; throws where it cannot be read to its end. */
export async function* readResults(
  sent: Sent,
  form: ResultForm,
  upstream: Upstream,
  stop: Stop,
): AsyncGenerator<BatchResult> {
  stop.replyBy(sent)
  const { firstByteMs, idleMs } = upstream.timeouts
  const answer = await within(firstByteMs, sent, sent.answer)
  if (!isGood(answer.status)) {
    const text = (await within(idleMs, answer, answer.text(maxAnswerBytes))) ?? ''
    throw new Error(`the results cannot be read: ${readTextError(answer, text).message}`)
  }
  const chunks = async function* () {
    for (;;) {
      const piece = await within(idleMs, answer, answer.read())
      if (piece === undefined) return
      yield piece
    }
  }
  try {
    for await (const line of byteLines(chunks(), maxLineBytes, longAnswerBytes)) {
      const result =
        line.bytes === undefined
          ? resultReaders[form](line.text)
          : await longResult(line.bytes, form, upstream.queueKey)
      if (result !== undefined) yield result
    }
  } finally {
    answer.cancel()
  }
}

/** The same in the thread that reads large answers. */
async function longResult(
  line: Uint8Array<ArrayBuffer>,
  resultForm: ResultForm,
  queueKey = '',
): Promise<BatchResult | undefined> {
  const made = await translationThread.run(queueKey, { line, resultForm }, [line.buffer])
  const { rest, body } = made as LineResult
  if (rest === undefined) return undefined
  return {
    ...(JSON.parse(rest) as BatchResult),
    ...(body !== undefined && { body }),
  } as BatchResult
}
