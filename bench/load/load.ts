// The load generator, its own process: keeps a number of connections busy, one request at a time on
// each, and counts only answers that ended correctly. Raw sockets, because it shares the machine
// with what it measures. Reads one JSON order per line, prints one JSON result per line.

import { createInterface } from 'node:readline'
import type { Socket } from 'bun'
import { percentile } from '../lib/stats.ts'
import { readStamps } from '../lib/token-stamp.ts'
import { newReader, type ResponseReader, read, resetReader } from './response-reader.ts'

export interface LoadOrder {
  port: number
  request: string
  /** An answer with fewer body bytes has lost something. */
  leastBodyBytes: number
  /** What a stream must end in. */
  endMark?: string
  connections: number
  seconds: number
  /** Time to the first token counts, less what the upstream says it held it back. */
  firstToken?: boolean
  /** The connections begin one after the other over so long, not all at once. */
  spreadMs?: number
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
  order: LoadOrder
  request: Buffer
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
  askedMs: number
  waiting: boolean
  /** Its first token has come. */
  heard: boolean
}

/** Requests still running when the time is over may take this long. */
const drainMs = 5000
/** A target that keeps failing is not worth the rest of the time. */
const mostFailures = 1000

function fail(slice: Slice, why: string): void {
  slice.failed++
  slice.firstFailure ??= why
}

function ask(slice: Slice, socket: Socket<Caller>, nowMs: number): void {
  resetReader(socket.data.reader)
  socket.data.askedMs = nowMs
  socket.data.waiting = true
  socket.data.heard = false
  if (socket.write(slice.request) === slice.request.length) return
  fail(slice, 'the request could not be written at once')
  socket.data.waiting = false
  socket.end()
}

/** What is wrong with an answer that has ended, if anything. */
export function complaint(reader: ResponseReader, order: LoadOrder): string | undefined {
  if (reader.status !== 200) return `status ${reader.status}: ${reader.tail}`
  if (reader.bodyBytes < order.leastBodyBytes) {
    return `body of ${reader.bodyBytes} bytes, expected ${order.leastBodyBytes} or more`
  }
  const { endMark } = order
  return endMark === undefined || reader.tail.includes(endMark) ? undefined : `no ${endMark}`
}

function hear(slice: Slice, caller: Caller, bytes: Buffer): void {
  const nowMs = performance.now()
  const first = readStamps(bytes.toString('latin1'))[0]
  if (first === undefined) return
  caller.heard = true
  slice.latenciesMs.push(nowMs - caller.askedMs - first.heldMs)
}

function receive(slice: Slice, socket: Socket<Caller>, bytes: Buffer): void {
  const caller = socket.data
  const { firstToken } = slice.order
  if (firstToken && !caller.heard) hear(slice, caller, bytes)
  const outcome = read(caller.reader, bytes)
  if (outcome === 'more') return
  caller.waiting = false
  if (outcome === 'broken') {
    fail(slice, 'the answer is not well-formed HTTP/1.1')
    socket.end()
    return
  }
  const nowMs = performance.now()
  const wrong = complaint(caller.reader, slice.order)
  if (wrong !== undefined) fail(slice, wrong)
  else if (firstToken && !caller.heard) fail(slice, 'no token')
  else slice.served++
  if (wrong === undefined && !firstToken) slice.latenciesMs.push(nowMs - caller.askedMs)
  if (nowMs < slice.endMs && slice.failed < mostFailures) ask(slice, socket, nowMs)
  else socket.end()
}

function closed(slice: Slice, socket: Socket<Caller>): void {
  if (socket.data.waiting) fail(slice, 'the connection closed before the answer ended')
  if (performance.now() < slice.endMs && slice.failed < mostFailures) connect(slice)
  else if (--slice.open === 0) slice.finish()
}

function connect(slice: Slice): void {
  Bun.connect<Caller>({
    hostname: '127.0.0.1',
    port: slice.order.port,
    socket: {
      open(socket) {
        socket.data = { reader: newReader(), askedMs: 0, waiting: false, heard: false }
        socket.setNoDelay(true)
        ask(slice, socket, performance.now())
      },
      data: (socket, bytes) => receive(slice, socket, bytes),
      close: (socket) => closed(slice, socket),
      error() {},
    },
  }).catch((error: Error) => {
    fail(slice, `cannot connect: ${error.message}`)
    if (--slice.open === 0) slice.finish()
  })
}

export async function runSlice(order: LoadOrder): Promise<LoadResult> {
  const finished = Promise.withResolvers<void>()
  const startMs = performance.now()
  const slice: Slice = {
    order,
    request: Buffer.from(order.request),
    endMs: startMs + order.seconds * 1000,
    served: 0,
    latenciesMs: [],
    failed: 0,
    firstFailure: undefined,
    open: order.connections,
    finish: finished.resolve,
  }
  const everyMs = (order.spreadMs ?? 0) / order.connections
  for (let i = 0; i < order.connections; i++) {
    if (everyMs === 0) connect(slice)
    else setTimeout(connect, i * everyMs, slice)
  }
  const drained = setTimeout(
    () => {
      fail(slice, `${slice.open} connections did not finish`)
      finished.resolve()
    },
    order.seconds * 1000 + drainMs,
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

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await runSlice(JSON.parse(line) as LoadOrder)))
  }
}
