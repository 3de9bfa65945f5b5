// A POST to a URL chosen by a third party: checked, dialled by IP, sent once, without redirects.
// The status of the reply counts, and for some its text. Does not know the message, nor its recipient.

import type { HttpAnswer } from '../http/answer.ts'
import { headerLines } from '../http/client.ts'
import { HttpError, type HttpErrorKind } from '../http/error.ts'
import { type AddressRules, guardAddress, type Lookup } from './address-guard.ts'
import { dialGuarded, type GuardedRequest, Stop } from './guarded-dial.ts'

/** Maximum reply body, so that a receiver with a short reply is not cut off. */
const maxAnswerBytes = 64 * 1024

export interface PostOptions {
  rules: AddressRules
  headers: Readonly<Record<string, string>>
  body: string
  /** For the whole request. */
  timeoutMs: number
  /** Whether the text of the reply is wanted, too. */
  readsText?: boolean
  signal?: AbortSignal
  lookup?: Lookup
  tls?: { ca: string }
}

/** The status of the reply, or why there was none. A problem contains no address and no secret. */
export type Posted = { status: number; text?: string } | { problem: string }

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
    const read = await readAway(answer)
    return options.readsText ? { status: answer.status, text: read } : { status: answer.status }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { problem: late ? 'no answer came in time' : problems[error.kind] }
  } finally {
    clearTimeout(timer)
    stop.release()
  }
}

/** All but the body is ASCII: the URL parser ensures that, and headers are checked. */
function requestFor(url: URL, { headers, body }: PostOptions): GuardedRequest {
  const bodyBytes = Buffer.byteLength(body)
  const lines = headerLines({ ...headers, accept: '*/*', connection: 'close' })
  const opening = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`
  const head = `${opening}${lines}Content-Length: ${bodyBytes}\r\n\r\n`
  return { text: head + body, bytes: head.length + bodyBytes }
}

/** The head is sufficient: however the body ends, the message has arrived. */
async function readAway(answer: HttpAnswer): Promise<string> {
  try {
    return (await answer.text(maxAnswerBytes)) ?? ''
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return ''
  }
}
