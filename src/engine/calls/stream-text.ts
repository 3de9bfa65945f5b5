// A text stream from its first byte to its last. Upstream bytes go to the caller as fast as it reads
// them; the final event waits until the charge is durable.
//
//   upstream bytes ──> watcher ──> caller
//        the caller does not read ──> the upstream waits
//        finished ──> settle, final event, close
//        failed   ──> release, error event, close
//        caller leaves ──> read on for a while to learn the usage, then settle
//        broken off while the caller did not read ──> settle what was delivered, error event, close
//        the gateway ends it (it stops, it is wrong, the stream is endless) ──> the same
//        not covered, not for the first time ──> the same
import type { AnswerStream, StreamSink } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BodyReader } from '../../contract/http.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { HttpError } from '../../lib/http/error.ts'
import { addAnswerLosses } from './call-record.ts'
import { StreamLength } from './endless-stream.ts'
import { type BegunStream, type OpenCall, reportBug } from './open-call.ts'
import { completeAttempt, failAttempt, hasLeft } from './send-call.ts'
import { giveUp, type SettledEnding, settleCall } from './settle-call.ts'

/** A comment: event parsers skip it, and it keeps proxies from closing the connection. */
const keepAlive = Buffer.from(': keep-alive\n\n')
/** A caller that does not read for shorter is not the reason why a stream breaks off. */
const minPauseMs = 500

/** Begins to read when the caller's connection is ready, or the caller has left. */
export class CallerStream implements AnswerStream, BodyReader {
  readonly #open: OpenCall
  readonly #begun: BegunStream
  /** Undefined before the start, and once the caller has left. */
  #sink: StreamSink | undefined
  #isReading = false
  /** The caller has unread bytes in every buffer. */
  #isFull = false
  #hasLeft = false
  #isEnding = false
  /** When the caller stopped reading, or how long it last had, and until when. */
  #pausedFromMs = 0
  #pausedMs = 0
  #pausedUntilMs = 0
  readonly #length: StreamLength
  /** Why the upstream is not to blame for the end. */
  #cut: Refusal | undefined
  #abandonedTimer: ReturnType<typeof setTimeout> | undefined

  constructor(open: OpenCall, begun: BegunStream) {
    this.#open = open
    this.#begun = begun
    this.#length = new StreamLength(open.admission.bounds.modelOutputTokens)
    const { signal } = open.ctx
    signal.addEventListener('abort', this.#leave)
    if (signal.aborted) this.#leave()
  }

  start(sink: StreamSink): void {
    if (this.#hasLeft) return
    this.#sink = sink
    const { deadline } = this.#begun.attempt
    deadline.awaitCaller(undefined)
    deadline.waiter = this
    // For answers that cannot be cancelled: a caller that does not read must be charged, too.
    deadline.stream = { cut: () => this.#endHere(cutShort) }
    this.#begin()
  }

  #begin(): void {
    const { watcher } = this.#begun.reply
    const { first } = this.#begun
    this.#begun.first = undefined
    if (first !== undefined) this.#give(first)
    if (watcher.outcome !== undefined) this.#end()
    else if (!this.#isFull) this.#readOn()
  }

  #readOn(): void {
    const { answer } = this.#begun.reply
    if (this.#isReading) answer.resume()
    else {
      this.#isReading = true
      answer.pipe(this)
    }
  }

  /** The deadline's heartbeat for a waiting caller. */
  beat(): void {
    if (this.#isFull || this.#isEnding) return
    this.#give(this.#begun.reply.watcher.keepAlive?.() ?? keepAlive)
  }

  take(bytes: Uint8Array): boolean {
    const { reply, attempt } = this.#begun
    const { watcher } = reply
    if (watcher.outcome !== undefined) return false
    attempt.deadline.touch()
    // The watcher may keep the bytes.
    const { length } = bytes
    try {
      const passed = watcher.take(bytes)
      if (passed !== undefined) this.#give(passed)
    } catch (error) {
      this.#break(error)
    }
    if (this.#length.isExceeded(length, watcher)) this.#endHere(endless)
    if (watcher.outcome === undefined) return !this.#isFull
    this.#end()
    return false
  }

  end(): void {
    const { watcher } = this.#begun.reply
    const wasOpen = watcher.outcome === undefined
    try {
      watcher.close()
    } catch (error) {
      this.#break(error)
    }
    if (wasOpen && watcher.outcome !== 'finished' && this.#wasNotRead) this.#cut ??= notRead
    this.#end()
  }

  fail(error: Error): void {
    this.#break(error)
    this.#end()
  }

  #break(error: unknown): void {
    const { watcher } = this.#begun.reply
    const isBug = !(error instanceof HttpError)
    if (isBug) reportBug(this.#open, error)
    if (watcher.outcome === undefined) {
      if (isBug && watcher.events > 0) this.#cut ??= ownFailure
      else if (this.#wasNotRead) this.#cut ??= notRead
    }
    watcher.break()
  }

  /** The gateway ends it: what was delivered is charged. */
  #endHere(why: Refusal): void {
    this.#cut ??= why
    this.#begun.attempt.stop.cancel()
    this.fail(stopped)
  }

  /** The caller does not read, or has not for so long that the upstream may have given up. */
  get #wasNotRead(): boolean {
    const nowMs = performance.now()
    if (this.#isFull) return nowMs - this.#pausedFromMs >= minPauseMs
    return this.#pausedMs >= minPauseMs && nowMs - this.#pausedUntilMs <= this.#pausedMs
  }

  #give(bytes: Uint8Array): void {
    const sink = this.#sink
    if (sink === undefined) return
    const { deadline } = this.#begun.attempt
    deadline.give()
    const room = sink.write(bytes)
    if (room === undefined || this.#isFull) return
    this.#isFull = true
    this.#pausedFromMs = performance.now()
    deadline.awaitCaller(this.#slowCaller)
    room.then(this.#goOn, this.#goOn)
  }

  /** There is room again, or a caller that needs none. */
  readonly #goOn = (): void => {
    if (!this.#isFull) return
    this.#isFull = false
    this.#pausedUntilMs = performance.now()
    this.#pausedMs = this.#pausedUntilMs - this.#pausedFromMs
    if (this.#isEnding) return
    this.#begun.attempt.deadline.awaitCaller(undefined)
    this.#readOn()
  }

  /** Stopped reading counts as left; otherwise what was read could be kept for free. */
  readonly #slowCaller = {
    cancel: () => {
      this.#sink?.cut()
      this.#leave()
    },
  }

  /** The caller has left: reads on within the limits, so that the charge is exact. */
  readonly #leave = (): void => {
    if (this.#hasLeft) return
    this.#hasLeft = true
    const hasStarted = this.#sink !== undefined
    this.#sink = undefined
    if (this.#isEnding) return
    const { engine } = this.#open
    const { attempt } = this.#begun
    const { stop, deadline } = attempt
    attempt.isAbandoned = true
    const mayReadOn = engine.load.abandoned < engine.limits.abandonedStreams
    engine.load.abandoned++
    const untilMs = mayReadOn ? engine.limits.abandonedMs : 0
    this.#abandonedTimer = setTimeout(() => stop.cancel(), untilMs)
    deadline.awaitCaller(undefined)
    if (hasStarted) this.#goOn()
    else this.#begin()
  }

  #end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    const ended = this.#hasLeft ? this.#endAbandoned() : this.#endDelivered()
    ended.catch((error) => {
      reportBug(this.#open, error)
      this.#sink?.cut()
    })
  }

  async #endDelivered(): Promise<void> {
    const last = await finish(this.#open, this.#begun, this.#cut)
    this.#open.ctx.signal.removeEventListener('abort', this.#leave)
    if (last !== undefined) this.#sink?.write(last)
    this.#sink?.end()
  }

  async #endAbandoned(): Promise<void> {
    const { stop, deadline } = this.#begun.attempt
    clearTimeout(this.#abandonedTimer)
    this.#open.engine.load.abandoned--
    if (!this.#open.admission.hold.open) return
    const isStopped = stop.cancelled && (!deadline.expired || deadline.stopped)
    const isCut = isStopped || this.#cut !== undefined
    if (this.#begun.reply.watcher.outcome === 'finished' || isCut) {
      await settle(this.#open, this.#begun, 'caller_left')
    } else fail(this.#open, this.#begun)
  }
}

const stopped = new HttpError('cancelled', 'the gateway has ended this stream')

/** Settles or releases, then returns the last bytes for the caller. */
async function finish(
  open: OpenCall,
  begun: BegunStream,
  cut: Refusal | undefined,
): Promise<Uint8Array | undefined> {
  const { watcher } = begun.reply
  const isTranslated = begun.attempt.route.translated === true
  const errorEvent = (refusal: Refusal) =>
    open.ctx.errorEvent(refusal, { events: watcher.events, isTranslated })
  if (!open.admission.hold.open) return undefined
  if (watcher.outcome === 'finished') {
    const settled = await settle(open, begun, 'complete')
    return settled instanceof Refusal ? errorEvent(settled) : watcher.ending
  }
  const why = cut ?? (begun.attempt.deadline.stopped ? cutShort : undefined)
  if (why !== undefined) {
    const settled = await settle(open, begun, 'cut_short')
    return errorEvent(settled ?? why)
  }
  return errorEvent(fail(open, begun))
}

const cutShort = refuse('overloaded', 'the gateway is shutting down and has ended this stream', {
  retryAfterSeconds: 2,
})

const endless = refuse(
  'upstream_invalid_response',
  'the upstream went on beyond the maximum output of the model; the stream ends here, and what it delivered is charged',
)

const notRead = refuse(
  'upstream_error',
  'the upstream broke off its stream while it was not read; what it delivered is charged',
)

const ownFailure = refuse(
  'internal_error',
  'something went wrong in the gateway; the stream ends here, and what it delivered is charged',
)

function fail(open: OpenCall, { attempt, reply: { watcher } }: BegunStream): Refusal {
  const error = failAttempt(open, attempt, watcher.outcome as UpstreamError, watcher)
  return giveUp(open, error, hasLeft(open, attempt))
}

function settle(open: OpenCall, { attempt, reply }: BegunStream, ending: SettledEnding) {
  const { watcher, answer, upstreamRequestId } = reply
  const finishReason = watcher.finishReason()
  if (finishReason !== undefined) open.record.detail.finishReason = finishReason
  if (watcher.losses !== undefined) addAnswerLosses(open.record, watcher.losses)
  completeAttempt(open, attempt, upstreamRequestId)
  if (watcher.outcome === 'finished') answer.release()
  else answer.cancel()
  return settleCall(open, watcher.reported, () => watcher.countOutputTokens(), ending)
}
