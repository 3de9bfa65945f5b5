// A message to an address that somebody else chose: judged, dialled by number, sent once, followed
// nowhere. Of the answer only its status counts. It does not know what is said, nor to whom.

import type { HttpAnswer } from '../http/answer.ts'
import { headerLines } from '../http/client.ts'
import { HttpError, type HttpErrorKind } from '../http/error.ts'
import { type AddressRules, guardAddress, type Lookup } from './address-guard.ts'
import { dialGuarded, type GuardedRequest, Stop } from './guarded-dial.ts'

/** Of the answer's body, so that whoever writes a polite one is not cut short. */
const maxAnswerBytes = 64 * 1024

export interface PostOptions {
  rules: AddressRules
  headers: Readonly<Record<string, string>>
  body: string
  /** For all of it. */
  timeoutMs: number
  signal?: AbortSignal
  lookup?: Lookup
  tls?: { ca: string }
}

/** The status of the answer, or why there was none. No address and no secret is in a problem. */
export type Posted = { status: number } | { problem: string }

const problems: Readonly<Record<HttpErrorKind, string>> = {
  unreachable: 'no connection could be made',
  tls: 'TLS could not be agreed on',
  timeout: 'no connection could be made in time',
  broken: 'the connection broke off before an answer came',
  invalid: 'the answer is not HTTP',
  cancelled: 'it was stopped',
}

export async function guardedPost(text: string, options: PostOptions): Promise<Posted> {
  const stop = new Stop(options.signal)
  let late = false
  const timer = setTimeout(() => {
    late = true
    stop.stop()
  }, options.timeoutMs)
  try {
    const guarded = await guardAddress(text, options.rules, options.lookup)
    if ('problem' in guarded) return guarded
    const request = requestFor(guarded.url, options)
    const answer = await dialGuarded(guarded, request, stop, options.tls)
    await readAway(answer)
    return { status: answer.status }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { problem: late ? 'no answer came in time' : problems[error.kind] }
  } finally {
    clearTimeout(timer)
    stop.release()
  }
}

/** All but the body is ASCII: the parser of the address has seen to that, and headers are checked. */
function requestFor(url: URL, { headers, body }: PostOptions): GuardedRequest {
  const bodyBytes = Buffer.byteLength(body)
  const lines = headerLines({ ...headers, accept: '*/*', connection: 'close' })
  const opening = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`
  const head = `${opening}${lines}Content-Length: ${bodyBytes}\r\n\r\n`
  return { text: head + body, bytes: head.length + bodyBytes }
}

/** The head has said it all: however the body ends, the message has arrived. */
async function readAway(answer: HttpAnswer): Promise<void> {
  try {
    await answer.text(maxAnswerBytes)
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
  }
}
