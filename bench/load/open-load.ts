// Callers that do not wait for each other, their own process: requests of several groups begin at a fixed
// rate, whether or not earlier ones have been answered. Reads one JSON command per line, prints one JSON
// result per line.

import type { Socket } from 'bun'
import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'
import { newReader, type ResponseReader, read, resetReader } from './response-reader.ts'

export interface OpenCommand {
  port: number
  seconds: number
  groups: { name: string; request: string; perSecond: number }[]
}

export interface GroupResult {
  name: string
  sent: number
  served: number
  p50Ms: number
  p99Ms: number
  /** Answers with status 503 and a Retry-After. */
  refused: number
  refusedP99Ms: number
  /** Anything else, and requests that were not answered. */
  failed: number
  firstFailure?: string
}

export interface OpenResult {
  elapsedMs: number
  groups: GroupResult[]
}

interface Group {
  name: string
  request: Buffer
  perSecond: number
  sent: number
  servedMs: number[]
  refusedMs: number[]
  failed: number
  firstFailure: string | undefined
}

interface Caller {
  reader: ResponseReader
  group: Group | undefined
  sentMs: number
}

const tickMs = 5
const drainMs = 10_000
/** A request that finds all of these busy counts as failed: the generator is at its end. */
const maxConnections = 6000

/** Connections without a request. */
let idle: Socket<Caller>[] = []
let open = 0

function fail(group: Group, why: string): void {
  group.failed++
  group.firstFailure ??= why
}

function begin(socket: Socket<Caller>, group: Group): void {
  socket.data.group = group
  socket.data.sentMs = performance.now()
  resetReader(socket.data.reader)
  if (socket.write(group.request) === group.request.length) return
  socket.data.group = undefined
  fail(group, 'the request could not be written at once')
  socket.end()
}

function receive(socket: Socket<Caller>, bytes: Buffer): void {
  const { reader, group, sentMs } = socket.data
  const outcome = read(reader, bytes)
  if (outcome === 'more' || group === undefined) return
  socket.data.group = undefined
  const ms = performance.now() - sentMs
  if (outcome === 'broken') fail(group, 'the answer is not well-formed HTTP/1.1')
  else if (reader.status === 200) group.servedMs.push(ms)
  else if (reader.status === 503 && /\r\nretry-after: *\d/i.test(reader.head))
    group.refusedMs.push(ms)
  else fail(group, `status ${reader.status}: ${reader.tail}`)
  if (/\r\nconnection: *close/i.test(reader.head) || outcome === 'broken') socket.end()
  else idle.push(socket)
}

function closed(socket: Socket<Caller>): void {
  open--
  const { group } = socket.data
  if (group !== undefined) fail(group, 'the connection closed before the answer ended')
  else idle = idle.filter((other) => other !== socket)
}

function connect(port: number, group: Group): void {
  if (open >= maxConnections) {
    fail(group, `more than ${maxConnections} requests at once`)
    return
  }
  open++
  Bun.connect<Caller>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.data = { reader: newReader(), group: undefined, sentMs: 0 }
        socket.setNoDelay(true)
        begin(socket, group)
      },
      data: receive,
      close: closed,
      error() {},
    },
  }).catch((error: Error) => {
    open--
    fail(group, `cannot connect: ${error.message}`)
  })
}

/** As many as are due by now; late ticks catch up. */
function sendDue(port: number, group: Group, elapsedMs: number): void {
  const due = Math.floor((elapsedMs * group.perSecond) / 1000)
  for (; group.sent < due; group.sent++) {
    const socket = idle.pop()
    if (socket === undefined) connect(port, group)
    else begin(socket, group)
  }
}

const isDone = ({ sent, servedMs, refusedMs, failed }: Group): boolean =>
  servedMs.length + refusedMs.length + failed >= sent

async function run({ port, seconds, groups: asked }: OpenCommand): Promise<OpenResult> {
  const groups = asked.map(
    ({ name, request, perSecond }): Group => ({
      name,
      request: Buffer.from(request),
      perSecond,
      sent: 0,
      servedMs: [],
      refusedMs: [],
      failed: 0,
      firstFailure: undefined,
    }),
  )
  const startMs = performance.now()
  const elapsed = () => performance.now() - startMs
  while (elapsed() < seconds * 1000) {
    for (const group of groups) sendDue(port, group, elapsed())
    await Bun.sleep(tickMs)
  }
  const elapsedMs = elapsed()
  const counts = groups.map(({ servedMs }) => servedMs.length)
  while (!groups.every(isDone) && elapsed() < seconds * 1000 + drainMs) await Bun.sleep(tickMs)
  for (const socket of idle.splice(0)) socket.end()
  return { elapsedMs, groups: groups.map((group, i) => resultOf(group, counts[i]!)) }
}

/** Served counts what was answered within the time, so that a rate can be made of it. */
function resultOf(group: Group, served: number): GroupResult {
  const { name, sent, servedMs, refusedMs, failed, firstFailure } = group
  const sorted = Float64Array.from(servedMs).sort()
  const unanswered = sent - servedMs.length - refusedMs.length - failed
  return {
    name,
    sent,
    served,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    refused: refusedMs.length,
    refusedP99Ms: percentile(Float64Array.from(refusedMs).sort(), 0.99),
    failed: failed + unanswered,
    ...(firstFailure !== undefined && { firstFailure }),
  }
}

if (import.meta.main) await serveCommands(run)
