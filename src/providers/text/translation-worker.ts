// The thread that translates large requests, one after the other.
import { Refusal } from '../../contract/errors.ts'
import { lowerPriority } from '../../lib/lower-priority.ts'
import type { StyleName } from '../../styles/common/conversation.ts'
import {
  type RequestWork,
  readRequest,
  type WrittenRequest,
  writeRequest,
} from '../../styles/common/translate-request.ts'
import { styles } from '../../styles/index.ts'

declare const self: Worker

/** A flat record, so that threads share its text: the work as JSON. */
export interface LongWork {
  work: string
  body: string
}

export interface PlainWork extends Omit<RequestWork, 'from' | 'to' | 'envelopeKey'> {
  from: StyleName
  to: StyleName
  /** As Base64. */
  envelopeKey: string
}

/** The same for the result; `names` by themselves, because most answers need none of them. */
export type LongResult =
  | { body: string; rest: string; names: string }
  | { code: string; message: string; param: string | undefined }

export type PlainResult = Omit<WrittenRequest, 'body' | 'names'> & {
  answerTool: string | undefined
}

lowerPriority()

self.onmessage = ({ data }: MessageEvent<LongWork>) => {
  self.postMessage(translated(data))
  // The texts are large, and nothing else may happen here for a while.
  Bun.gc(true)
}

function translated({ work: given, body }: LongWork): LongResult {
  const { from, to, envelopeKey, ...rest } = JSON.parse(given) as PlainWork
  const key = Buffer.from(envelopeKey, 'base64')
  const work = { ...rest, from: styles[from], to: styles[to], envelopeKey: key }
  const written = writeRequest(work, readRequest(work, body), body)
  if (written instanceof Refusal) {
    const { code, message, extras } = written
    return { code, message, param: extras.param }
  }
  const { body: made, names, ...noted } = written
  const result: PlainResult = { ...noted, answerTool: names.answerTool }
  return { body: made, rest: JSON.stringify(result), names: JSON.stringify(names.renamed) }
}
