// The load generator, its own process: keeps a number of connections busy, one request at a time on
// each, and counts only answers that ended correctly. Raw sockets, because it shares the machine
// with what it measures. Reads one JSON command per line, prints one JSON result per line.

import type { Socket } from 'bun'
import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'
import { readStamps } from '../lib/token-stamp.ts'
import { newReader, type ResponseReader, read, resetReader } from './response-reader.ts'

export interface LoadCommand {
  port: number
  request: string
  /** Sent in turn instead of the one. */
  requests?: string[]
  /** An answer with fewer body bytes has lost something. */
  minBodyBytes: number
  /** What a stream must end in. */
  endMark?: string
  connections: number
  seconds: number
  /** Time to the first token counts, less what the upstream says it held it back. */
  firstToken?: boolean
  /** The connections begin one after the other over so long, not all at once. */
  spreadMs?: number
  /** Every request is sent on a connection of its own. */
  closes?: boolean
}

export interface LoadResult {
  /** Answers that ended correctly, the last ones after the time was over. */
  served: number
  failed: number
  firstFailure?: string
  elapsedMs: number
  p50Ms: number
  p99Ms: number
}

interface Slice {
  command: LoadCommand
  requests: Buffer[]
  sent: number
  endMs: number
  served: number
  latenciesMs: number[]
  failed: number
  firstFailure: string | undefined
  open: number
  finish: () => void
}

interface Caller {
  reader: ResponseReader
  /** The rest of the request. */
  unsent: Buffer
  sentMs: number
  waiting: boolean
  /** Its first token has arrived. */
  hasToken: boolean
}

/** Requests still running when the time is over may take this long. */
const drainMs = 5000
/** A target that keeps failing is not worth the rest of the time. */
const maxFailures = 1000

function fail(slice: Slice, why: string): void {
  slice.failed++
  slice.firstFailure ??= why
}

function sendRequest(slice: Slice, socket: Socket<Caller>, nowMs: number): void {
  resetReader(socket.data.reader)
  socket.data.sentMs = nowMs
  socket.data.waiting = true
  socket.data.hasToken = false
  socket.data.unsent = slice.requests[slice.sent++ % slice.requests.length]!
  sendRest(socket)
}

/** A large request takes several writes. */
function sendRest(socket: Socket<Caller>): void {
  const { unsent } = socket.data
  if (unsent.length > 0) socket.data.unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
}

/** What is wrong with an answer that has ended, if anything. */
function problemWith(reader: ResponseReader, command: LoadCommand): string | undefined {
  if (reader.status !== 200) return `status ${reader.status}: ${reader.tail}`
  if (reader.bodyBytes < command.minBodyBytes) {
    return `body of ${reader.bodyBytes} bytes, expected ${command.minBodyBytes} or more`
  }
  const { endMark } = command
  return endMark === undefined || reader.tail.includes(endMark) ? undefined : `no ${endMark}`
}

function recordFirstToken(slice: Slice, caller: Caller, bytes: Buffer): void {
  const nowMs = performance.now()
  const first = readStamps(bytes.toString('latin1'))[0]
  if (first === undefined) return
  caller.hasToken = true
  slice.latenciesMs.push(nowMs - caller.sentMs - first.heldMs)
}

function receive(slice: Slice, socket: Socket<Caller>, bytes: Buffer): void {
  const caller = socket.data
  const { firstToken } = slice.command
  if (firstToken && !caller.hasToken) recordFirstToken(slice, caller, bytes)
  const outcome = read(caller.reader, bytes)
  if (outcome === 'more') return
  caller.waiting = false
  if (outcome === 'broken') {
    fail(slice, 'the answer is not well-formed HTTP/1.1')
    socket.end()
    return
  }
  const nowMs = performance.now()
  const wrong = problemWith(caller.reader, slice.command)
  if (wrong !== undefined) fail(slice, wrong)
  else if (firstToken && !caller.hasToken) fail(slice, 'no token')
  else slice.served++
  if (wrong === undefined && !firstToken) slice.latenciesMs.push(nowMs - caller.sentMs)
  const goesOn = nowMs < slice.endMs && slice.failed < maxFailures && !slice.command.closes
  if (goesOn) sendRequest(slice, socket, nowMs)
  else socket.end()
}

function closed(slice: Slice, socket: Socket<Caller>): void {
  if (socket.data.waiting) fail(slice, 'the connection closed before the answer ended')
  if (performance.now() < slice.endMs && slice.failed < maxFailures) connect(slice)
  else if (--slice.open === 0) slice.finish()
}

function connect(slice: Slice): void {
  Bun.connect<Caller>({
    hostname: '127.0.0.1',
    port: slice.command.port,
    socket: {
      open(socket) {
        const unsent = Buffer.alloc(0)
        socket.data = { reader: newReader(), unsent, sentMs: 0, waiting: false, hasToken: false }
        socket.setNoDelay(true)
        sendRequest(slice, socket, performance.now())
      },
      data: (socket, bytes) => receive(slice, socket, bytes),
      drain: sendRest,
      close: (socket) => closed(slice, socket),
      error() {},
    },
  }).catch((error: Error) => {
    fail(slice, `cannot connect: ${error.message}`)
    if (--slice.open === 0) slice.finish()
  })
}

async function runSlice(command: LoadCommand): Promise<LoadResult> {
  const finished = Promise.withResolvers<void>()
  const startMs = performance.now()
  const slice: Slice = {
    command,
    requests: (command.requests ?? [command.request]).map((text) => Buffer.from(text)),
    sent: 0,
    endMs: startMs + command.seconds * 1000,
    served: 0,
    latenciesMs: [],
    failed: 0,
    firstFailure: undefined,
    open: command.connections,
    finish: finished.resolve,
  }
  const everyMs = (command.spreadMs ?? 0) / command.connections
  for (let i = 0; i < command.connections; i++) {
    if (everyMs === 0) connect(slice)
    else setTimeout(connect, i * everyMs, slice)
  }
  const drained = setTimeout(
    () => {
      fail(slice, `${slice.open} connections did not finish`)
      finished.resolve()
    },
    command.seconds * 1000 + drainMs,
  )
  await finished.promise
  clearTimeout(drained)
  const sorted = Float64Array.from(slice.latenciesMs).sort()
  return {
    served: slice.served,
    failed: slice.failed,
    ...(slice.firstFailure !== undefined && { firstFailure: slice.firstFailure }),
    elapsedMs: performance.now() - startMs,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  }
}

if (import.meta.main) await serveCommands(runSlice)
