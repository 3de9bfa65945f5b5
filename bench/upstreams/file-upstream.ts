// The fake upstream of finished films, its own process: one operation that is done at once, and its
// film, sent as fast as it is taken. Prints its port, then takes one order per line.

import { createInterface } from 'node:readline'
import { percentile } from '../lib/stats.ts'
import { jsonResponse, type Peer, pathOf, send, serveRaw } from './raw-server.ts'

export interface FileOrder {
  /** Prints what the films have taken, and with `forget` begins anew. */
  order: 'count'
  forget?: boolean
}

export interface FilesSent {
  films: number
  totalBytes: number
  medianBytes: number
  largestBytes: number
}

interface Film {
  sentBytes: number
}

const filmBytes = Number(process.argv[2] ?? 300_000_000)
const block = Buffer.alloc(256 * 1024, 'film ')
/** Then the others get their turn, however fast this one is read. */
const blocksPerTurn = 4
let films: Film[] = []
let port = 0

function begin(peer: Peer<Film>, request: string): void {
  const path = pathOf(request)
  const name = 'operations/film'
  if (path.endsWith(':predictLongRunning')) {
    send(peer, jsonResponse(JSON.stringify({ name })))
  } else if (path.startsWith('/v1beta/')) {
    const video = { uri: `http://127.0.0.1:${port}/film.mp4` }
    const response = { generateVideoResponse: { generatedSamples: [{ video }] } }
    send(peer, jsonResponse(JSON.stringify({ name, done: true, response })))
  } else {
    const film = { sentBytes: 0 }
    films.push(film)
    peer.data.work = film
    const head = `HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: ${filmBytes}\r\n\r\n`
    send(peer, Buffer.from(head))
    if (peer.data.unsent.length === 0) push(peer)
  }
}

/** Writes until the other side takes no more. */
function push(peer: Peer<Film>): void {
  const { work } = peer.data
  if (work === undefined) return
  for (let turn = 0; turn < blocksPerTurn; turn++) {
    const left = filmBytes - work.sentBytes
    if (left === 0) {
      peer.data.work = undefined
      return
    }
    const piece = block.subarray(0, Math.min(block.length, left))
    const written = Math.max(0, peer.write(piece))
    work.sentBytes += written
    if (written < piece.length) return
  }
  setImmediate(push, peer)
}

function count(): FilesSent {
  const sent = films.map((film) => film.sentBytes).sort((a, b) => a - b)
  return {
    films: sent.length,
    totalBytes: sent.reduce((sum, bytes) => sum + bytes, 0),
    medianBytes: sent.length === 0 ? 0 : percentile(sent, 0.5),
    largestBytes: sent.at(-1) ?? 0,
  }
}

if (import.meta.main) {
  port = serveRaw<Film>({ received: begin, drained: push })
  console.log(port)
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(count()))
    if ((JSON.parse(line) as FileOrder).forget) films = []
  }
  process.exit(0)
}
