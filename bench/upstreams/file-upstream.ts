// The fake upstream of finished videos, its own process: one operation that is done at once, and its
// video, sent as fast as it is read. Prints its port, then takes one command per line.

import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'
import { jsonResponse, type Peer, pathOf, send, serveRaw } from './raw-server.ts'

export interface FileCommand {
  /** Prints what the videos have sent; with `forget` starts again from zero. */
  command: 'count'
  forget?: boolean
}

export interface FilesSent {
  videos: number
  totalBytes: number
  medianBytes: number
  maxBytes: number
}

interface Video {
  sentBytes: number
}

const videoBytes = Number(process.argv[2] ?? 300_000_000)
const block = Buffer.alloc(256 * 1024, 'video ')
/** Then the others get their turn, however fast this one is read. */
const blocksPerTurn = 4
let videos: Video[] = []
let port = 0

function begin(peer: Peer<Video>, request: string): void {
  const path = pathOf(request)
  const name = 'operations/video'
  if (path.endsWith(':predictLongRunning')) {
    send(peer, jsonResponse(JSON.stringify({ name })))
  } else if (path.startsWith('/v1beta/')) {
    const video = { uri: `http://127.0.0.1:${port}/video.mp4` }
    const response = { generateVideoResponse: { generatedSamples: [{ video }] } }
    send(peer, jsonResponse(JSON.stringify({ name, done: true, response })))
  } else {
    const file = { sentBytes: 0 }
    videos.push(file)
    peer.data.work = file
    const head = `HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: ${videoBytes}\r\n\r\n`
    send(peer, Buffer.from(head))
    if (peer.data.unsent.length === 0) push(peer)
  }
}

/** Writes until the other side takes no more. */
function push(peer: Peer<Video>): void {
  const { work } = peer.data
  if (work === undefined) return
  for (let turn = 0; turn < blocksPerTurn; turn++) {
    const left = videoBytes - work.sentBytes
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

function count({ forget = false }: FileCommand): FilesSent {
  const sent = videos.map((file) => file.sentBytes).sort((a, b) => a - b)
  if (forget) videos = []
  return {
    videos: sent.length,
    totalBytes: sent.reduce((sum, bytes) => sum + bytes, 0),
    medianBytes: sent.length === 0 ? 0 : percentile(sent, 0.5),
    maxBytes: sent.at(-1) ?? 0,
  }
}

if (import.meta.main) {
  port = serveRaw<Video>({ received: begin, drained: push })
  console.log(port)
  await serveCommands(count)
}
