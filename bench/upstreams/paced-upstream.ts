// The fake upstream of slow and of endless streams, its own process. Every token says when it was
// sent, so that delays can be told from the upstream's own pauses. Prints its port, then takes one
// command per line. Refuses to know who asks.

import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'
import { stampToken, wallMs } from '../lib/token-stamp.ts'
import { chatDelta, chatEnd } from '../payload/chat.ts'
import {
  frameChunk,
  modelOf,
  type Peer,
  send,
  serveRaw,
  streamEnd,
  streamHead,
} from './raw-server.ts'

export type PaceCommand =
  /** How streams go from now on; without a number of tokens, until they are told to end. */
  | { command: 'pace'; firstMs: number; everyMs: number; tokens?: number }
  /** Streams from now on are sent as fast as they are taken. */
  | { command: 'flood'; bytes: number }
  /** Running streams end, each when its next token would be due. */
  | { command: 'end' }
  /** Prints what the streams of the flood have taken. */
  | { command: 'count' }

export interface Flooded {
  streams: number
  totalBytes: number
  medianBytes: number
  maxBytes: number
}

interface Paced {
  model: string
  receivedMs: number
  everyMs: number
  left: number
}

interface Flood {
  accepted: number
  bytes: number
  block: Buffer
  offset: number
}

type Work = Paced | Flood

type Profile = Extract<PaceCommand, { command: 'pace' | 'flood' }>

const floodTokenBytes = 1024
const floodTokens = 64
/** Then the other streams get their turn, however fast this one is read. */
const blocksPerTurn = 4

let profile: Profile = { command: 'pace', firstMs: 0, everyMs: 0, tokens: 1 }
let ending = false
let floods: Flood[] = []

function begin(peer: Peer<Work>, request: string): void {
  const model = modelOf(request)
  if (profile.command === 'flood') {
    const tokens = frameChunk(chatDelta(model, 'x'.repeat(floodTokenBytes))).repeat(floodTokens)
    const flood = { accepted: 0, bytes: profile.bytes, block: Buffer.from(tokens), offset: 0 }
    floods.push(flood)
    peer.data.work = flood
    send(peer, Buffer.from(streamHead))
    if (peer.data.unsent.length === 0) push(peer)
    return
  }
  const { firstMs, everyMs, tokens = Number.POSITIVE_INFINITY } = profile
  const work = { model, receivedMs: performance.now(), everyMs, left: tokens }
  peer.data.work = work
  setTimeout(step, firstMs, peer, work, streamHead)
}

function step(peer: Peer<Work>, work: Paced, head = ''): void {
  if (peer.data.work !== work) return
  if (work.left === 0 || ending) {
    peer.data.work = undefined
    send(peer, Buffer.from(head + frameChunk(chatEnd(work.model)) + streamEnd))
    return
  }
  work.left--
  const heldMs = head === '' ? 0 : performance.now() - work.receivedMs
  const token = chatDelta(work.model, stampToken({ sentMs: wallMs(), heldMs }))
  send(peer, Buffer.from(head + frameChunk(token)))
  setTimeout(step, work.everyMs, peer, work)
}

/** Writes until the other side takes no more. */
function push(peer: Peer<Work>): void {
  const { work } = peer.data
  if (work === undefined || !('block' in work)) return
  for (let turn = 0; turn < blocksPerTurn; turn++) {
    if (work.accepted >= work.bytes && work.offset === 0) {
      peer.data.work = undefined
      send(peer, Buffer.from(frameChunk(chatEnd('')) + streamEnd))
      return
    }
    const rest = work.block.subarray(work.offset)
    const written = Math.max(0, peer.write(rest))
    work.accepted += written
    work.offset = (work.offset + written) % work.block.length
    if (written < rest.length) return
  }
  setImmediate(push, peer)
}

function countFlood(): Flooded {
  const accepted = floods.map((flood) => flood.accepted).sort((a, b) => a - b)
  return {
    streams: accepted.length,
    totalBytes: accepted.reduce((sum, bytes) => sum + bytes, 0),
    medianBytes: accepted.length === 0 ? 0 : percentile(accepted, 0.5),
    maxBytes: accepted.at(-1) ?? 0,
  }
}

function run(command: PaceCommand): Flooded | undefined {
  if (command.command === 'count') return countFlood()
  ending = command.command === 'end'
  if (command.command === 'end') return undefined
  floods = []
  profile = command
  return undefined
}

if (import.meta.main) {
  console.log(serveRaw<Work>({ received: begin, drained: push }))
  await serveCommands(run)
}
