// A text stream from its first byte to its last. Upstream bytes go to the caller as fast as it reads
// them; the final event waits until the charge is durable.
//
//   caller reads ──> pull ──> upstream read ──> watcher ──> bytes out
//        finished ──> settle, final event, close
//        failed   ──> release, error event, close
//        caller leaves ──> read on for a while to learn the usage, then settle
//        the gateway ends it ──> settle what was delivered, error event, close
//        not covered, not for the first time ──> the same
import { Refusal, refuse } from '../../contract/errors.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { type BegunStream, type OpenCall, reportBug } from './open-call.ts'
import { nextBytes } from './read-stream.ts'
import { completeAttempt, failAttempt, hasLeft } from './send-call.ts'
import { giveUp, type SettledEnding, settleCall } from './settle-call.ts'

/** A comment: event parsers skip it, and it keeps proxies from closing the connection. */
const keepAlive = Buffer.from(': keep-alive\n\n')

type Controller = ReadableStreamDefaultController<Uint8Array>

/** No read-ahead for a caller that does not read. */
export const streamText = (open: OpenCall, begun: BegunStream): ReadableStream<Uint8Array> =>
  new ReadableStream(new CallerStream(open, begun), { highWaterMark: 0 })

class CallerStream implements Bun.UnderlyingSource<Uint8Array> {
  readonly #open: OpenCall
  readonly #begun: BegunStream
  #first: Uint8Array | undefined
  /** The upstream read that the caller waits for. */
  #pending: Promise<Uint8Array | undefined> | undefined
  #controller: Controller | undefined
  /** The caller has everything, or has left. */
  #isOver = false
  #isPulling = false

  constructor(open: OpenCall, begun: BegunStream) {
    this.#open = open
    this.#begun = begun
    this.#first = begun.first
    // Both are needed: a body is never cancelled if its caller left before the first read.
    const { signal } = open.ctx
    signal.addEventListener('abort', this.cancel)
    if (signal.aborted) this.cancel()
  }

  start(controller: Controller): void {
    const { deadline } = this.#begun.attempt
    this.#controller = controller
    deadline.waiter = {
      beat: () => {
        if (!this.#isOver && this.#pending !== undefined) {
          controller.enqueue(this.#begun.reply.watcher.keepAlive?.() ?? keepAlive)
        }
      },
    }
    // A reading caller learns of it by its next read; one that does not read must be charged, too.
    deadline.stream = {
      cut: () => {
        if (this.#isOver || this.#isPulling) return
        this.#end(controller).catch((error) => reportBug(this.#open, error))
      },
    }
  }

  async pull(controller: Controller): Promise<void> {
    const { attempt, reply } = this.#begun
    const { deadline } = attempt
    this.#isPulling = true
    deadline.awaitCaller(undefined)
    let bytes = this.#first
    this.#first = undefined
    if (bytes === undefined) {
      this.#pending = nextBytes(this.#open, attempt, reply)
      bytes = await this.#pending
      this.#pending = undefined
    }
    if (this.#isOver) return
    if (bytes !== undefined) controller.enqueue(bytes)
    if (reply.watcher.outcome !== undefined || deadline.stopped) return this.#end(controller)
    this.#isPulling = false
    deadline.awaitCaller(this.#slowCaller)
  }

  /** Stopped reading counts as left; otherwise what was read could be kept for free. */
  readonly #slowCaller = {
    cancel: () => {
      this.#controller?.error(new Error('the caller stopped reading'))
      this.cancel()
    },
  }

  /** The caller has left. */
  cancel = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    const { engine, ctx } = this.#open
    readOn(this.#open, this.#begun, this.#pending).catch((error) => {
      engine.log.error('an abandoned stream could not be settled', {
        request_id: ctx.requestId,
        error,
      })
    })
  }

  async #end(controller: Controller): Promise<void> {
    const last = await finish(this.#open, this.#begun)
    this.#open.ctx.signal.removeEventListener('abort', this.cancel)
    if (this.#isOver) return
    this.#isOver = true
    if (last !== undefined) controller.enqueue(last)
    controller.close()
  }
}

/** Settles or releases, then returns the last bytes for the caller. */
async function finish(open: OpenCall, begun: BegunStream): Promise<Uint8Array | undefined> {
  const { watcher } = begun.reply
  const isTranslated = begun.attempt.route.translated === true
  const errorEvent = (refusal: Refusal) =>
    open.ctx.errorEvent(refusal, { events: watcher.events, isTranslated })
  if (!open.admission.hold.open) return undefined
  if (watcher.outcome === 'finished') {
    const settled = await settle(open, begun, 'complete')
    return settled instanceof Refusal ? errorEvent(settled) : watcher.ending
  }
  if (begun.attempt.deadline.stopped) {
    const settled = await settle(open, begun, 'cut_short')
    return errorEvent(settled ?? cutShort)
  }
  return errorEvent(fail(open, begun))
}

const cutShort = refuse('overloaded', 'the gateway is shutting down and has ended this stream', {
  retryAfterSeconds: 2,
})

function fail(open: OpenCall, { attempt, reply: { watcher } }: BegunStream): Refusal {
  const error = failAttempt(open, attempt, watcher.outcome as UpstreamError, watcher)
  return giveUp(open, error, hasLeft(open, attempt))
}

function settle(open: OpenCall, { attempt, reply }: BegunStream, ending: SettledEnding) {
  const { watcher, answer, upstreamRequestId } = reply
  completeAttempt(open, attempt, upstreamRequestId)
  if (watcher.outcome === 'finished') answer.release()
  else answer.cancel()
  return settleCall(open, watcher.reported, () => watcher.countOutputTokens(), ending)
}

/** The caller hung up mid-stream: reads on within the limits, so that the charge is exact. */
async function readOn(
  open: OpenCall,
  begun: BegunStream,
  pending: Promise<unknown> | undefined,
): Promise<void> {
  const { engine, admission } = open
  const { attempt, reply } = begun
  const { stop, deadline } = attempt
  if (!admission.hold.open) return
  const mayReadOn = engine.load.abandoned < engine.limits.abandonedStreams
  engine.load.abandoned++
  const timer = setTimeout(() => stop.cancel(), mayReadOn ? engine.limits.abandonedMs : 0)
  deadline.awaitCaller(undefined)
  // One read at a time: the one the caller was waiting for comes first.
  await pending
  while (reply.watcher.outcome === undefined) await nextBytes(open, attempt, reply)
  clearTimeout(timer)
  engine.load.abandoned--
  if (!admission.hold.open) return
  const isCut = stop.cancelled && (!deadline.expired || deadline.stopped)
  if (reply.watcher.outcome === 'finished' || isCut) await settle(open, begun, 'caller_left')
  else fail(open, begun)
}
