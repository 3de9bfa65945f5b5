// Reads an upstream's stream up to its first event, through its watcher, which decides what the caller may
// have.
import { HttpError } from '../../lib/http/error.ts'
import { type OpenCall, reportBug, type StreamReply, type UpstreamAttempt } from './open-call.ts'

/** The next bytes for the caller; undefined only once the watcher has an outcome. */
async function nextBytes(
  open: OpenCall,
  { deadline }: UpstreamAttempt,
  { answer, watcher }: StreamReply,
): Promise<Uint8Array | undefined> {
  while (watcher.outcome === undefined) {
    try {
      const chunk = await answer.read()
      deadline.touch()
      if (chunk === undefined) watcher.close()
      const bytes = chunk === undefined ? undefined : watcher.take(chunk)
      if (bytes !== undefined) return bytes
    } catch (error) {
      if (!(error instanceof HttpError)) reportBug(open, error)
      watcher.break()
    }
  }
  return undefined
}

/** More comments than that before the first event are dropped. */
const maxHeld = 100

/** The same up to the first event: comments before it do not count as an answer. */
export async function firstBytes(
  open: OpenCall,
  attempt: UpstreamAttempt,
  reply: StreamReply,
): Promise<Uint8Array | undefined> {
  let held: Uint8Array[] | undefined
  attempt.deadline.output = reply.watcher
  for (;;) {
    const bytes = await nextBytes(open, attempt, reply)
    if (bytes === undefined) return undefined
    if (reply.watcher.events > 0) {
      return held === undefined ? bytes : Buffer.concat([...held, bytes])
    }
    held ??= []
    if (held.length < maxHeld) held.push(bytes)
  }
}
