// A text stream from its first byte to its last. Upstream bytes go to the caller as fast as it reads
// them; the final event waits until the charge is durable.
//
//   caller reads ──> pull ──> upstream read ──> watcher ──> bytes out
//        finished ──> settle, final event, close
//        failed   ──> release, error event, close
//        caller leaves ──> read on for a while to learn the usage, then settle
import { Refusal } from '../contract/errors.ts'
import type { TextReply, UpstreamError } from '../contract/provider.ts'
import { noteAttempt } from './call-record.ts'
import { end, failCall, type OpenCall, settleCall } from './open-call.ts'

type StreamReply = Extract<TextReply, { kind: 'stream' }>

/** Reads until something can be sent: until then a failure is still a plain error answer. */
export async function openStream(
  open: OpenCall,
  reply: StreamReply,
): Promise<{ stream: ReadableStream<Uint8Array> } | Refusal> {
  const { ctx, engine, record } = open
  const first = await next(open, reply)
  ctx.signal.removeEventListener('abort', open.stop)
  const { outcome } = reply.watcher
  if (first === undefined && outcome !== undefined && outcome !== 'finished') {
    return failCall(open, outcome)
  }
  record.firstByteMs = engine.clock.nowMs() - ctx.atMs
  return { stream: streamOf(open, reply, first) }
}

function streamOf(
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
  // A caller that stops reading is one that left; otherwise it could wait out the time limit and
  // keep what it has read for nothing.
  const slowCaller = {
    cancel() {
      stalled?.()
      leave()
    },
  }
  // Both are needed: a body whose caller left before the first read is never cancelled.
  open.ctx.signal.addEventListener('abort', leave)
  if (open.ctx.signal.aborted) leave()
  return new ReadableStream<Uint8Array>({
    start(controller) {
      stalled = () => controller.error(new Error('the caller stopped reading'))
    },
    async pull(controller) {
      open.deadline.awaitCaller(undefined)
      if (waiting === undefined) pending = next(open, reply)
      const bytes = waiting ?? ((await pending) as Uint8Array | undefined)
      waiting = undefined
      pending = undefined
      if (gone) return
      if (bytes !== undefined) controller.enqueue(bytes)
      if (reply.watcher.outcome === undefined) {
        open.deadline.awaitCaller(slowCaller)
        return
      }
      const last = await finish(open, reply)
      open.ctx.signal.removeEventListener('abort', leave)
      if (gone) return
      gone = true
      if (last !== undefined) controller.enqueue(last)
      controller.close()
    },
    cancel: leave,
  })
}

/** The next bytes for the caller; undefined only once the watcher has an outcome. */
async function next(open: OpenCall, reply: StreamReply): Promise<Uint8Array | undefined> {
  const { answer, watcher } = reply
  while (watcher.outcome === undefined) {
    let chunk: Uint8Array | undefined
    try {
      chunk = await answer.read()
    } catch {
      watcher.break()
      continue
    }
    open.deadline.touch()
    if (chunk === undefined) watcher.close()
    const bytes = chunk === undefined ? undefined : watcher.take(chunk)
    if (bytes !== undefined) return bytes
  }
  return undefined
}

/** Settles or releases, then gives the last bytes the caller sees. */
async function finish(open: OpenCall, reply: StreamReply): Promise<Uint8Array | undefined> {
  const { outcome, ending } = reply.watcher
  if (!open.admission.hold.open) return undefined
  if (outcome !== 'finished') return errorEvent(open, failCall(open, outcome as UpstreamError))
  const settled = await settle(open, reply, 'complete')
  return settled instanceof Refusal ? errorEvent(open, settled) : ending
}

function settle(open: OpenCall, reply: StreamReply, ending: 'complete' | 'caller_left') {
  const { watcher, answer, upstreamRequestId } = reply
  noteAttempt(open.engine, open.record, open.startedMs, { status: 200, upstreamRequestId })
  end(open)
  if (watcher.outcome === 'finished') answer.release()
  else answer.cancel()
  return settleCall(open, watcher.reported, () => watcher.countOutputTokens(), ending)
}

const errorEvent = ({ provider, ctx }: OpenCall, refusal: Refusal): Uint8Array =>
  provider.errorEvent(ctx.errorBody(refusal))

/** The caller hung up mid-stream: read on within the limits, so that the charge is the true one. */
async function readOn(
  open: OpenCall,
  reply: StreamReply,
  pending: Promise<unknown> | undefined,
): Promise<void> {
  const { engine, stop, admission, deadline } = open
  if (!admission.hold.open) return
  const mayReadOn = engine.abandoned < engine.limits.abandonedStreams
  engine.abandoned++
  const timer = setTimeout(() => stop.cancel(), mayReadOn ? engine.limits.abandonedMs : 0)
  deadline.awaitCaller(undefined)
  // One read at a time: the one the caller was waiting for comes first.
  await pending
  while (reply.watcher.outcome === undefined) await next(open, reply)
  clearTimeout(timer)
  engine.abandoned--
  if (!admission.hold.open) return
  const { outcome } = reply.watcher
  const cutShort = stop.cancelled && !deadline.expired
  if (outcome === 'finished' || cutShort) await settle(open, reply, 'caller_left')
  else failCall(open, outcome as UpstreamError)
}
