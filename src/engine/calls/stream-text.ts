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
import type { TextReply, UpstreamError } from '../../contract/provider.ts'
import { HttpError } from '../../lib/http/error.ts'
import { addFailedLoss } from '../books/losses.ts'
import { endAnswered, endFailed, giveUp, type OpenCall, reportBug } from './open-call.ts'
import { type SettledEnding, settleCall } from './settle-call.ts'

/** A comment: event parsers skip it, and it keeps proxies from closing the connection. */
const keepAlive = Buffer.from(': keep-alive\n\n')

type StreamReply = Extract<TextReply, { kind: 'stream' }>

export function streamOf(
  open: OpenCall,
  reply: StreamReply,
  first: Uint8Array | undefined,
): ReadableStream<Uint8Array> {
  let gone = false
  let waiting = first
  let pending: Promise<unknown> | undefined
  let stalled: (() => void) | undefined
  const leave = () => {
    if (gone) return
    gone = true
    readOn(open, reply, pending).catch((error) => {
      open.engine.log.error('an abandoned stream could not be settled', {
        request_id: open.ctx.requestId,
        error,
      })
    })
  }
  // A caller that stops reading counts as gone; otherwise it could wait for the time limit and keep
  // what it has read for free.
  const slowCaller = {
    cancel() {
      stalled?.()
      leave()
    },
  }
  // Both are needed: a body is never cancelled if its caller left before the first read.
  open.ctx.signal.addEventListener('abort', leave)
  if (open.ctx.signal.aborted) leave()
  const { deadline } = open.trying
  const end = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const last = await finish(open, reply)
    open.ctx.signal.removeEventListener('abort', leave)
    if (gone) return
    gone = true
    if (last !== undefined) controller.enqueue(last)
    controller.close()
  }
  let isPulling = false
  const source: Bun.UnderlyingSource<Uint8Array> = {
    start(controller) {
      stalled = () => controller.error(new Error('the caller stopped reading'))
      deadline.waiter = {
        beat() {
          if (!gone && pending !== undefined) controller.enqueue(keepAlive)
        },
      }
      // A reading caller learns of it by its next read; one that does not read must be charged,
      // too.
      deadline.stream = {
        cut() {
          if (!gone && !isPulling) end(controller).catch((error) => reportBug(open, error))
        },
      }
    },
    async pull(controller) {
      isPulling = true
      deadline.awaitCaller(undefined)
      if (waiting === undefined) pending = nextBytes(open, reply)
      const bytes = waiting ?? ((await pending) as Uint8Array | undefined)
      waiting = undefined
      pending = undefined
      if (gone) return
      if (bytes !== undefined) controller.enqueue(bytes)
      isPulling = false
      if (reply.watcher.outcome === undefined && !deadline.stopped) {
        deadline.awaitCaller(slowCaller)
        return
      }
      isPulling = true
      await end(controller)
    },
    cancel: leave,
  }
  // No read-ahead for a caller that does not read.
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** The next bytes for the caller; undefined only once the watcher has an outcome. */
async function nextBytes(open: OpenCall, reply: StreamReply): Promise<Uint8Array | undefined> {
  const { answer, watcher } = reply
  while (watcher.outcome === undefined) {
    try {
      const chunk = await answer.read()
      const { deadline } = open.trying
      deadline.touch()
      if (chunk === undefined) watcher.close()
      const before = watcher.events
      const bytes = chunk === undefined ? undefined : watcher.take(chunk)
      // Comments alone are no progress.
      if (watcher.events > before) deadline.advance()
      if (bytes !== undefined) return bytes
    } catch (error) {
      if (!(error instanceof HttpError)) reportBug(open, error)
      watcher.break()
    }
  }
  return undefined
}

/** The same up to the first event: comments before it do not count as an answer. */
export async function firstBytes(
  open: OpenCall,
  reply: StreamReply,
): Promise<Uint8Array | undefined> {
  let held: Uint8Array[] | undefined
  for (;;) {
    const bytes = await nextBytes(open, reply)
    if (bytes === undefined) return undefined
    if (reply.watcher.events > 0) {
      return held === undefined ? bytes : Buffer.concat([...held, bytes])
    }
    held ??= []
    if (held.length < maxHeld) held.push(bytes)
  }
}

/** More comments than that before the first event are dropped. */
const maxHeld = 100

/** Settles or releases, then returns the last bytes for the caller. */
async function finish(open: OpenCall, reply: StreamReply): Promise<Uint8Array | undefined> {
  const { outcome, ending } = reply.watcher
  if (!open.admission.hold.open) return undefined
  if (outcome === 'finished') {
    const settled = await settle(open, reply, 'complete')
    return settled instanceof Refusal ? errorEvent(open, reply, settled) : ending
  }
  if (open.trying.deadline.stopped) {
    const settled = await settle(open, reply, 'cut_short')
    return errorEvent(open, reply, settled ?? cutShort)
  }
  return errorEvent(open, reply, fail(open, reply, outcome as UpstreamError))
}

const cutShort = refuse('overloaded', 'the gateway is shutting down and has ended this stream', {
  retryAfterSeconds: 2,
})

function fail(open: OpenCall, { watcher }: StreamReply, error: UpstreamError): Refusal {
  addFailedLoss(open, error, watcher)
  return giveUp(open, endFailed(open, error))
}

function settle(open: OpenCall, reply: StreamReply, ending: SettledEnding) {
  const { watcher, answer, upstreamRequestId } = reply
  endAnswered(open, upstreamRequestId)
  if (watcher.outcome === 'finished') answer.release()
  else answer.cancel()
  return settleCall(open, watcher.reported, () => watcher.countOutputTokens(), ending)
}

const errorEvent = ({ ctx }: OpenCall, { watcher }: StreamReply, refusal: Refusal): Uint8Array =>
  ctx.errorEvent(refusal, watcher.events)

/** The caller hung up mid-stream: reads on within the limits, so that the charge is exact. */
async function readOn(
  open: OpenCall,
  reply: StreamReply,
  pending: Promise<unknown> | undefined,
): Promise<void> {
  const { engine, admission, trying } = open
  const { stop, deadline } = trying
  if (!admission.hold.open) return
  const mayReadOn = engine.load.abandoned < engine.limits.abandonedStreams
  engine.load.abandoned++
  const timer = setTimeout(() => stop.cancel(), mayReadOn ? engine.limits.abandonedMs : 0)
  deadline.awaitCaller(undefined)
  // One read at a time: the one the caller was waiting for comes first.
  await pending
  while (reply.watcher.outcome === undefined) await nextBytes(open, reply)
  clearTimeout(timer)
  engine.load.abandoned--
  if (!admission.hold.open) return
  const { outcome } = reply.watcher
  const isCut = stop.cancelled && (!deadline.expired || deadline.stopped)
  if (outcome === 'finished' || isCut) await settle(open, reply, 'caller_left')
  else fail(open, reply, outcome as UpstreamError)
}
