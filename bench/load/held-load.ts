// Callers that hold many streams open at once, their own process: some read and time every token,
// some never read at all. Reads one JSON command per line, prints one JSON result per line.

import type { Socket } from 'bun'
import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'
import { readStamps, wallMs } from '../lib/token-stamp.ts'
import { newReader, type ResponseReader, read } from './response-reader.ts'

export type HeldCommand =
  /** Opens streams, so many per second; done when each has had a token or failed. */
  | {
      command: 'hold'
      port: number
      request: string
      endMark: string
      streams: number
      perSecond?: number
    }
  /** Times the tokens that come within so many seconds. */
  | { command: 'listen'; seconds: number }
  /** Done when all streams have ended. */
  | { command: 'finish'; timeoutMs: number }
  /** Opens connections that send their request and never read. */
  | { command: 'stall'; port: number; request: string; streams: number }

export interface HeldResult {
  open: number
  /** Streams that ended whole. */
  ended: number
  failed: number
  firstFailure?: string
}

export interface Listened extends HeldResult {
  tokens: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

interface Held {
  reader: ResponseReader
  /** The rest of the request. */
  unsent: Buffer
  hasToken: boolean
  over: boolean
}

/** A listener has a bounded backlog; 5,000 connections in one instant would overflow it. */
const opensPerSecond = 500
const openBatchMs = 20
const pollMs = 50
const holdMs = 30_000

const state = { open: 0, hasToken: 0, ended: 0, failed: 0, firstFailure: '' }
let delaysMs: number[] | undefined

function fail(why: string): void {
  state.failed++
  if (state.firstFailure === '') state.firstFailure = why
}

const result = (): HeldResult => ({
  open: state.open,
  ended: state.ended,
  failed: state.failed,
  ...(state.firstFailure !== '' && { firstFailure: state.firstFailure }),
})

function receive(socket: Socket<Held>, bytes: Buffer, endMark: string): void {
  const held = socket.data
  const stamps = readStamps(bytes.toString('latin1'))
  if (stamps.length > 0) {
    if (!held.hasToken) state.hasToken++
    held.hasToken = true
    const nowMs = wallMs()
    if (delaysMs !== undefined) for (const { sentMs } of stamps) delaysMs.push(nowMs - sentMs)
  }
  const outcome = read(held.reader, bytes)
  if (outcome === 'more') return
  const { status, tail } = held.reader
  held.over = true
  if (outcome === 'broken') fail('the answer is not well-formed HTTP/1.1')
  else if (status !== 200) fail(`status ${status}: ${tail}`)
  else if (!tail.includes(endMark)) fail(`no ${endMark}`)
  else state.ended++
  socket.end()
}

function closed({ data }: Socket<Held>): void {
  state.open--
  if (!data.over) fail('the connection closed before the stream ended')
}

function sendRest(socket: Socket<Held>): void {
  const { unsent } = socket.data
  if (unsent.length > 0) socket.data.unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
}

function openHeld(port: number, request: Buffer, endMark: string): void {
  Bun.connect<Held>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        state.open++
        socket.data = { reader: newReader(), unsent: request, hasToken: false, over: false }
        socket.setNoDelay(true)
        sendRest(socket)
      },
      drain: sendRest,
      data: (socket, bytes) => receive(socket, bytes, endMark),
      close: closed,
      error() {},
    },
  }).catch((error: Error) => fail(`cannot connect: ${error.message}`))
}

function openStalled(port: number, request: Buffer): void {
  Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        state.open++
        socket.pause()
        socket.write(request)
      },
      data: () => fail('a caller that should not read has read'),
      close() {
        state.open--
      },
      error() {},
    },
  }).catch((error: Error) => fail(`cannot connect: ${error.message}`))
}

async function openMany(
  count: number,
  open: () => void,
  perSecond: number = opensPerSecond,
): Promise<void> {
  const perBatch = Math.max(1, (perSecond * openBatchMs) / 1000)
  for (let opened = 0; opened < count; opened += perBatch) {
    for (let i = opened; i < Math.min(count, opened + perBatch); i++) open()
    await Bun.sleep((perBatch * 1000) / perSecond)
  }
}

async function waitUntil(done: () => boolean, timeoutMs: number): Promise<void> {
  const untilMs = performance.now() + timeoutMs
  while (!done() && performance.now() < untilMs) await Bun.sleep(pollMs)
}

async function listen(seconds: number): Promise<Listened> {
  delaysMs = []
  await Bun.sleep(seconds * 1000)
  const sorted = Float64Array.from(delaysMs).sort()
  delaysMs = undefined
  return {
    ...result(),
    tokens: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    maxMs: sorted.at(-1) ?? Number.NaN,
  }
}

async function run(command: HeldCommand): Promise<HeldResult> {
  if (command.command === 'listen') return listen(command.seconds)
  if (command.command === 'finish') {
    await waitUntil(() => state.open === 0, command.timeoutMs)
    if (state.open > 0) fail(`${state.open} streams did not end`)
    return result()
  }
  const { port, streams } = command
  const request = Buffer.from(command.request)
  Object.assign(state, { hasToken: 0, ended: 0, failed: 0, firstFailure: '' })
  if (command.command === 'stall') {
    await openMany(streams, () => openStalled(port, request))
    await waitUntil(() => state.open + state.failed >= streams, holdMs)
  } else {
    const { endMark, perSecond } = command
    await openMany(streams, () => openHeld(port, request, endMark), perSecond)
    await waitUntil(() => state.hasToken + state.failed >= streams, holdMs)
  }
  return result()
}

if (import.meta.main) await serveCommands(run)
