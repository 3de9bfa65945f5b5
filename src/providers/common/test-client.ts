// An HTTP client with a scripted answer, for tests of what is sent and how an answer is read. Other
// tests use real HTTP.
import type { HttpAnswer } from '../../contract/http.ts'
import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { readable } from '../../lib/http/pipe-by-read.ts'

export interface Sent {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

export interface Given {
  status?: number
  headers?: Record<string, string>
  body: string
}

/** The upstream's answer; its body comes in one piece. */
export function answerOf({ status = 200, headers = {}, body }: Given): HttpAnswer {
  let rest: Uint8Array | undefined = Buffer.from(body)
  const read = async () => {
    const next = rest
    rest = undefined
    return next
  }
  return {
    status,
    header: (name) => headers[name],
    text: async (maxBytes) => (body.length > maxBytes ? undefined : body),
    ...readable(read),
    cancel() {},
    release() {},
    expectTrickle() {},
  }
}

/** An upstream that answers this and reports what it received. */
export function upstreamWith(
  given: Given,
  more: Partial<Upstream> = {},
): { upstream: Upstream; sent: Sent[] } {
  const sent: Sent[] = []
  const upstream: Upstream = {
    baseUrl: 'http://up/base',
    key: 'k-secret',
    model: 'up-model',
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    messages: { headers: 'both', auth: 'both' },
    http: {
      post(url, headers, body) {
        sent.push({ url, headers, body: Buffer.from(body).toString() })
        return { answer: Promise.resolve(answerOf(given)), cancel() {} }
      },
      get: () => ({ answer: new Promise(() => {}), cancel() {} }),
      delete: () => ({ answer: new Promise(() => {}), cancel() {} }),
    },
    progress: { touch() {} },
    ...more,
  }
  return { upstream, sent }
}

export function callOf(
  fields: Readonly<Record<string, unknown>>,
  more: Partial<TextCall> = {},
): TextCall {
  return {
    interface: 'chat',
    model: 'own',
    stream: fields['stream'] === true,
    wantsUsage: true,
    body: JSON.stringify(fields),
    fields,
    inputTokens: 1,
    inputBound: { maxTextTokens: 1, images: 0, isOpen: false, inputs: 1 },
    choices: 1,
    ...more,
  }
}

export const eventStream = { 'content-type': 'text/event-stream' }
