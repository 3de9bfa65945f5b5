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
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { BodyReader } from '../../contract/http.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { HttpError } from '../../lib/http/error.ts'
import { nextTurn, ReadTurns } from '../../lib/turns.ts'
import {
  completeAttempt,
  failAttempt,
  hasLeft,
  type StreamReply,
  type UpstreamAttempt,
} from './attempt.ts'
import { addAnswerLosses } from './call-record.ts'
import { StreamLength } from './endless-stream.ts'
import type { OpenCall } from './open-call.ts'
import type { BegunStream } from './send-call.ts'
import { giveUp, type SettledEnding, settleCall } from './settle-call.ts'

/** A comment: event parsers skip it, and it keeps proxies from closing the connection. */
const keepAlive = Buffer.from(': keep-alive\n\n')
/** A caller that does not read for shorter is not the reason why a stream breaks off. */
const minPauseMs = 500

/** Begins to read when the caller's connection is ready, or the caller has left. */
export class CallerStream implements AnswerStream, BodyReader {
  readonly #open: OpenCall
  readonly #attempt: UpstreamAttempt
  readonly #reply: StreamReply
  /** Until the caller gets them. */
  #first: Uint8Array | undefined
  /** Undefined before the start, and once the caller has left. */
  #sink: StreamSink | undefined
  #isReading = false
  readonly #turns = new ReadTurns()
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

  constructor(open: OpenCall, { attempt, reply, first }: BegunStream) {
    this.#open = open
    this.#attempt = attempt
    this.#reply = reply
    this.#first = first
    this.#length = new StreamLength(open.bounds.modelOutputTokens)
    open.underWay = this
    if (open.ctx.signal.aborted) this.handleEvent()
  }

  start(sink: StreamSink): void {
    if (this.#hasLeft) return
    this.#sink = sink
    const { deadline } = this.#attempt
    deadline.awaitCaller(undefined)
    deadline.stream = this
    this.#begin()
  }

  #begin(): void {
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) this.#give(first)
    if (this.#reply.watcher.outcome !== undefined) this.#end()
    else if (!this.#isFull) this.#readOn()
  }

  #readOn(): void {
    const { answer } = this.#reply
    if (this.#isReading) answer.resume()
    else {
      this.#isReading = true
      answer.pipe(this)
    }
  }

  /** The deadline's heartbeat for a waiting caller. */
  beat(): void {
    if (this.#isFull || this.#isEnding || this.#reply.watcher.isRaw) return
    this.#give(this.#reply.watcher.keepAlive?.() ?? keepAlive)
  }

  take(bytes: Uint8Array): boolean {
    const { watcher } = this.#reply
    if (watcher.outcome !== undefined) return false
    this.#attempt.deadline.touch()
    // The watcher may keep the bytes.
    const { length } = bytes
    try {
      const passed = watcher.take(bytes)
      if (passed !== undefined) this.#give(passed)
    } catch (error) {
      this.#break(error)
    }
    if (this.#length.isExceeded(length, watcher)) this.#endHere(endless)
    if (watcher.outcome !== undefined) {
      this.#end()
      return false
    }
    if (this.#isFull) return false
    if (!this.#turns.isDue(length)) return true
    nextTurn().then(() => this.#readOnAfterTurn())
    return false
  }

  #readOnAfterTurn(): void {
    if (!this.#isFull && !this.#isEnding) this.#readOn()
  }

  end(): void {
    const { watcher } = this.#reply
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
    const { watcher } = this.#reply
    const isBug = !(error instanceof HttpError)
    if (isBug) this.#open.reportBug(error)
    if (watcher.outcome === undefined) {
      if (isBug && watcher.events > 0) this.#cut ??= ownFailure
      else if (this.#wasNotRead) this.#cut ??= notRead
    }
    watcher.break()
  }

  /** The gateway stops. Of answers that cannot be cancelled, what was delivered is charged, too. */
  cut(): void {
    this.#endHere(cutShort)
  }

  /** The gateway ends it: what was delivered is charged. */
  #endHere(why: Refusal): void {
    this.#cut ??= why
    this.#attempt.cancel()
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
    const { deadline } = this.#attempt
    deadline.give()
    const room = sink.write(bytes)
    if (room === undefined || this.#isFull) return
    this.#isFull = true
    this.#pausedFromMs = performance.now()
    deadline.awaitCaller(this)
    const goOn = () => this.#goOn()
    room.then(goOn, goOn)
  }

  /** There is room again, or a caller that needs none. */
  #goOn(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#pausedUntilMs = performance.now()
    this.#pausedMs = this.#pausedUntilMs - this.#pausedFromMs
    if (this.#isEnding) return
    this.#attempt.deadline.awaitCaller(undefined)
    this.#readOn()
  }

  /** The caller does not read. That counts as left; otherwise what was read could be kept for free. */
  cancel(): void {
    this.#sink?.cut()
    this.handleEvent()
  }

  /** The caller has left: reads on within the limits, so that the charge is exact. */
  handleEvent(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    const hasStarted = this.#sink !== undefined
    this.#sink = undefined
    if (this.#isEnding) return
    const { load, limits } = this.#open.engine
    const attempt = this.#attempt
    attempt.isAbandoned = true
    const mayReadOn = load.abandoned < limits.abandonedStreams
    load.abandoned++
    this.#abandonedTimer = setTimeout(() => attempt.cancel(), mayReadOn ? limits.abandonedMs : 0)
    attempt.deadline.awaitCaller(undefined)
    if (hasStarted) this.#goOn()
    else this.#begin()
  }

  #end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    const ended = this.#hasLeft ? this.#endAbandoned() : this.#endDelivered()
    ended.catch((error) => {
      this.#open.reportBug(error)
      this.#sink?.cut()
    })
  }

  async #endDelivered(): Promise<void> {
    const last = await this.#finish()
    if (last !== undefined) this.#sink?.write(last)
    this.#sink?.end()
  }

  async #endAbandoned(): Promise<void> {
    const { deadline, cancelled } = this.#attempt
    clearTimeout(this.#abandonedTimer)
    this.#open.engine.load.abandoned--
    if (!this.#open.hold.open) return
    const isStopped = cancelled && (!deadline.expired || deadline.stopped)
    const isCut = isStopped || this.#cut !== undefined
    if (this.#reply.watcher.outcome === 'finished' || isCut) await this.#settle('caller_left')
    else this.#fail()
  }

  /** Settles or releases, then returns the last bytes for the caller. */
  async #finish(): Promise<Uint8Array | undefined> {
    const { watcher } = this.#reply
    if (!this.#open.hold.open) return undefined
    if (watcher.outcome === 'finished') {
      const refusal = await this.#settle('complete')
      return refusal === undefined ? watcher.ending : this.#errorEvent(refusal)
    }
    const why = this.#cut ?? (this.#attempt.deadline.stopped ? cutShort : undefined)
    if (why === undefined) return this.#errorEvent(this.#fail())
    return this.#errorEvent((await this.#settle('cut_short')) ?? why)
  }

  #errorEvent(refusal: Refusal): Uint8Array | undefined {
    if (this.#reply.watcher.isRaw) {
      this.#sink?.cut()
      this.#sink = undefined
      return undefined
    }
    const isTranslated = this.#attempt.route.translated === true
    return this.#open.ctx.errorEvent(refusal, { events: this.#reply.watcher.events, isTranslated })
  }

  #fail(): Refusal {
    const [open, attempt, { watcher }] = [this.#open, this.#attempt, this.#reply]
    const error = failAttempt(open, attempt, watcher.outcome as UpstreamError, watcher)
    return giveUp(open, error, hasLeft(open, attempt))
  }

  #settle(ending: SettledEnding): Promise<undefined | Refusal> {
    const { watcher, answer, upstreamRequestId } = this.#reply
    const open = this.#open
    const finishReason = watcher.finishReason()
    if (finishReason !== undefined) open.record.detail.finishReason = finishReason
    if (watcher.losses !== undefined) addAnswerLosses(open.record, watcher.losses)
    completeAttempt(open, this.#attempt, upstreamRequestId)
    if (watcher.outcome === 'finished') answer.release()
    else answer.cancel()
    return settleCall(open, watcher.reported, () => watcher.countOutputTokens(), ending)
  }
}

const stopped = new HttpError('cancelled', 'the gateway has ended this stream')

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
