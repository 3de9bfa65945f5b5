// Puts an answer on the wire: pauses, streams, cuts. Knows no protocol.

import type { Answer, SimulatedProtocol, StreamEvent } from '../protocol.ts'
import type { LoggedCall } from './call-log.ts'
import type { Directives } from './directives.ts'

/** Time for the last bytes to leave before the connection is reset under them. */
const lingerMs = 10

type Deliverable = Exclude<Answer, { kind: 'fault' | 'no-reply' }>

interface Delivery {
  protocol: SimulatedProtocol
  call: LoggedCall
  directives: Directives
  signal: AbortSignal
}

export function deliver(answer: Deliverable, delivery: Delivery): Response {
  const { call, directives, signal, protocol } = delivery
  const init = { headers: { ...idHeaders(protocol, call.id), 'content-type': contentType(answer) } }
  call.status = 200
  if (answer.kind === 'stream') {
    call.stream = true
    call.prompt_tokens = answer.promptTokens
    return new Response(streamOf(answer.events, delivery), init)
  }
  call.prompt_tokens = answer.counts?.promptTokens ?? 0
  if (directives.cutAfterChunks !== undefined) {
    return new Response(firstHalf(answer.body, signal), init)
  }
  call.completion_tokens = answer.counts?.completionTokens ?? 0
  if (answer.counts?.images !== undefined) call.images = answer.counts.images
  call.finished = !signal.aborted
  return new Response(answer.body, init)
}

export const idHeaders = (protocol: SimulatedProtocol, id: string): Record<string, string> =>
  Object.fromEntries(protocol.idHeaders.map((name) => [name, id]))

const contentType = (answer: Deliverable): string => answer.contentType ?? 'text/event-stream'

/** Ends early, without a word, when the signal does. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Bun resets the connection when a body fails; it reports every other kind of error on stderr. */
const reset = () => new DOMException('connection cut', 'AbortError')

const midStreamFailure = { status: 500, message: 'The model failed in the middle of its answer.' }

function streamOf(
  events: Iterable<StreamEvent>,
  { protocol, call, directives, signal }: Delivery,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = events[Symbol.iterator]()
  const cutAfter = directives.cutAfterChunks ?? Number.POSITIVE_INFINITY
  const errorAfter = directives.errorAfterChunks ?? Number.POSITIVE_INFINITY
  let sent = 0
  return new ReadableStream(
    {
      async pull(controller) {
        if (sent >= cutAfter) {
          await pause(lingerMs, signal)
          return controller.error(reset())
        }
        const { value: event } = iterator.next()
        if (event !== undefined && sent > 0) await pause(directives.chunkMs, signal)
        // The caller left: the stream is cancelled already.
        if (signal.aborted) return
        if (event === undefined) {
          call.finished = true
          return controller.close()
        }
        if (sent >= errorAfter) {
          const error = protocol.errorEvent?.(midStreamFailure, sent) ?? ''
          controller.enqueue(encoder.encode(error))
          return controller.close()
        }
        sent++
        call.completion_tokens += event.outputTokens
        controller.enqueue(encoder.encode(event.wire))
      },
    },
    // Nothing is made ahead of the socket, so the call log says what really went out.
    { highWaterMark: 0 },
  )
}

function firstHalf(body: string | Uint8Array, signal: AbortSignal): ReadableStream<Uint8Array> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  let sent = false
  return new ReadableStream(
    {
      async pull(controller) {
        if (sent) {
          await pause(lingerMs, signal)
          return controller.error(reset())
        }
        sent = true
        controller.enqueue(bytes.slice(0, Math.ceil(bytes.length / 2)))
      },
    },
    { highWaterMark: 0 },
  )
}
