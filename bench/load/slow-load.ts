// Callers that download at a steady pace or stop reading, their own process. Reads one JSON command per
// line, prints one JSON result per line.

import type { Socket } from 'bun'
import { serveCommands } from '../lib/commands.ts'

export type SlowCommand =
  /** Opens downloads; a pace of 0 takes nothing at all, no pace takes all there is. */
  | { command: 'open'; port: number; request: string; readers: number; bytesPerSecond?: number }
  | { command: 'count' }
  /** Hangs up on all of them. */
  | { command: 'close' }

export interface SlowResult {
  open: number
  failed: number
  firstFailure?: string
  totalBytes: number
  /** Of the slowest reader. */
  minBytes: number
}

interface Reader {
  gotBytes: number
  leftBytes: number
  paused: boolean
}

const stepMs = 100
const openMs = 10_000
const pollMs = 20
let readers = new Map<Socket<Reader>, Reader>()
let failed = 0
let firstFailure = ''
let closing = false
let pacing: ReturnType<typeof setInterval> | undefined

function fail(why: string): void {
  failed++
  if (firstFailure === '') firstFailure = why
}

function receive(socket: Socket<Reader>, bytes: Buffer): void {
  const { data } = socket
  if (data.gotBytes === 0 && !bytes.toString('latin1', 0, 12).startsWith('HTTP/1.1 200')) {
    fail(bytes.toString('latin1', 0, 200))
  }
  data.gotBytes += bytes.length
  data.leftBytes -= bytes.length
  if (data.leftBytes > 0) return
  data.paused = true
  socket.pause()
}

function open(port: number, request: Buffer, paceBytes: number): void {
  Bun.connect<Reader>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.data = { gotBytes: 0, leftBytes: paceBytes, paused: paceBytes === 0 }
        if (paceBytes === 0) socket.pause()
        readers.set(socket, socket.data)
        socket.write(request)
      },
      data: receive,
      close() {
        if (!closing) fail('the connection closed')
      },
      error() {},
    },
  }).catch((error: Error) => fail(`cannot connect: ${error.message}`))
}

/** What was not used in one step is not saved up for the next. */
function pace(stepBytes: number): void {
  for (const [socket, reader] of readers) {
    reader.leftBytes = Math.min(stepBytes, reader.leftBytes + stepBytes)
    if (!reader.paused || reader.leftBytes <= 0) continue
    reader.paused = false
    socket.resume()
  }
}

async function openAll(command: Extract<SlowCommand, { command: 'open' }>): Promise<void> {
  const { bytesPerSecond = Number.POSITIVE_INFINITY } = command
  const stepBytes = (bytesPerSecond * stepMs) / 1000
  const request = Buffer.from(command.request)
  closing = false
  failed = 0
  for (let i = 0; i < command.readers; i++) open(command.port, request, stepBytes)
  if (bytesPerSecond > 0) pacing = setInterval(pace, stepMs, stepBytes)
  const untilMs = performance.now() + openMs
  while (readers.size + failed < command.readers && performance.now() < untilMs) {
    await Bun.sleep(pollMs)
  }
}

function closeAll(): void {
  closing = true
  clearInterval(pacing)
  for (const socket of readers.keys()) socket.terminate()
  readers = new Map()
}

async function run(command: SlowCommand): Promise<SlowResult> {
  if (command.command === 'open') await openAll(command)
  const got = [...readers.values()].map(({ gotBytes }) => gotBytes)
  const result = {
    open: readers.size,
    failed,
    ...(firstFailure !== '' && { firstFailure }),
    totalBytes: got.reduce((sum, bytes) => sum + bytes, 0),
    minBytes: got.length === 0 ? 0 : Math.min(...got),
  }
  if (command.command === 'close') closeAll()
  return result
}

if (import.meta.main) await serveCommands(run)
