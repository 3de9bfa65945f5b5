// Ogg: pages of packets. Packets of Opus say how long they are; of Vorbis, the pages do.
import { opusMs } from './opus.ts'

interface Stream {
  codec: 'opus' | 'vorbis'
  rate: number
  /** Packets that are no sound come first. */
  heads: number
  ms: number
  /** The position of the last page, and the sum of all steps forward. */
  position: number
  moved: number
}

const pageHead = 27
/** Bytes a second that speech has at most, where only the file itself says how long it is. */
const maxVorbisRate = 24_000

export function oggSeconds(bytes: Buffer): number | undefined {
  const streams = new Map<number, Stream | undefined>()
  let at = 0
  while (at + pageHead <= bytes.length && bytes.toString('latin1', at, at + 4) === 'OggS') {
    const segments = bytes[at + 26]!
    const table = bytes.subarray(at + pageHead, at + pageHead + segments)
    const body = at + pageHead + segments
    const serial = bytes.readUInt32LE(at + 14)
    if (!streams.has(serial)) streams.set(serial, streamIn(bytes.subarray(body, body + 64)))
    const stream = streams.get(serial)
    if (stream !== undefined) readPage(stream, bytes, at, table, body)
    at = body + table.reduce((sum, size) => sum + size, 0)
  }
  // What is behind the last page is not known.
  if (at < bytes.length - pageHead) return undefined
  return maxSeconds([...streams.values()], bytes.length)
}

function maxSeconds(streams: readonly (Stream | undefined)[], size: number): number | undefined {
  const seconds = streams.flatMap((stream) => {
    if (stream === undefined) return []
    if (stream.codec === 'opus') return [stream.ms / 1_000]
    return [Math.max(stream.moved / stream.rate, size / maxVorbisRate)]
  })
  return seconds.length === 0 ? undefined : Math.max(...seconds)
}

function streamIn(head: Buffer): Stream | undefined {
  const base = { ms: 0, position: 0, moved: 0 }
  if (head.toString('latin1', 0, 8) === 'OpusHead') {
    return { codec: 'opus', rate: 48_000, heads: 2, ...base }
  }
  if (head.toString('latin1', 0, 7) !== '\x01vorbis') return undefined
  const rate = head.readUInt32LE(12)
  return rate < 1_000 || rate > 384_000 ? undefined : { codec: 'vorbis', rate, heads: 3, ...base }
}

function readPage(stream: Stream, bytes: Buffer, at: number, table: Buffer, body: number): void {
  const granule = bytes.readBigInt64LE(at + 6)
  if (granule > 0n && granule < 1n << 50n) {
    const position = Number(granule)
    stream.moved += Math.max(0, position - stream.position)
    stream.position = position
  }
  // A packet that goes on from the page before has been counted there.
  let isBegun = (bytes[at + 5]! & 1) === 1
  let start = body
  for (const size of table) {
    if (!isBegun) {
      if (stream.heads > 0) stream.heads--
      else stream.ms += opusMs(bytes.subarray(start, start + 2))
    }
    isBegun = size === 255
    start += size
  }
}
