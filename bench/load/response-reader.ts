// Reads one HTTP/1.1 response at a time from the bytes of a connection: finds its true end, counts
// its body and keeps the body's last bytes. Refuses to know sockets and time.

const tailBytes = 32

type ReadOutcome = 'more' | 'done' | 'broken'

type Phase = 'head' | 'length' | 'size' | 'data' | 'data-end' | 'trailer'

export interface ResponseReader {
  phase: Phase
  status: number
  bodyBytes: number
  /** The last bytes of the body, at least 32 if there were so many. */
  tail: string
  head: string
  /** Bytes left of the body (by content-length) or of the chunk. */
  left: number
  size: number
  trailerLine: number
}

export function newReader(): ResponseReader {
  return {
    phase: 'head',
    status: 0,
    bodyBytes: 0,
    tail: '',
    head: '',
    left: 0,
    size: -1,
    trailerLine: 0,
  }
}

export function resetReader(reader: ResponseReader): void {
  reader.phase = 'head'
  reader.status = 0
  reader.bodyBytes = 0
  reader.tail = ''
  reader.head = ''
}

/** Takes the next bytes. Bytes after the response's end mean 'broken': nothing else was asked. */
export function read(reader: ResponseReader, bytes: Buffer): ReadOutcome {
  let at = 0
  if (reader.phase === 'head') {
    const bodyStart = readHead(reader, bytes)
    if (bodyStart === undefined) return 'more'
    if (bodyStart < 0) return 'broken'
    at = bodyStart
  }
  return reader.phase === 'length' ? readLength(reader, bytes, at) : readChunks(reader, bytes, at)
}

/** Where the body starts in `bytes`; undefined while the head is incomplete, -1 if it is unusable. */
function readHead(reader: ResponseReader, bytes: Buffer): number | undefined {
  const before = reader.head.length
  // A whole stream may arrive at once; only its first bytes can be head.
  const head = reader.head + bytes.toString('latin1', 0, Math.min(bytes.length, 4096))
  const end = head.indexOf('\r\n\r\n')
  if (end === -1) {
    reader.head = head
    return head.length > 65_536 || bytes.length > 4096 ? -1 : undefined
  }
  reader.head = head.slice(0, end)
  reader.status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(reader.head)
  if (length !== null) {
    reader.phase = 'length'
    reader.left = Number(length[1])
  } else if (/\r\ntransfer-encoding: *chunked/i.test(reader.head)) {
    reader.phase = 'size'
    reader.size = -1
  } else {
    return -1
  }
  return end + 4 - before
}

function readLength(reader: ResponseReader, bytes: Buffer, at: number): ReadOutcome {
  const count = bytes.length - at
  if (count > reader.left) return 'broken'
  keepBody(reader, bytes, at, bytes.length)
  reader.left -= count
  return reader.left === 0 ? 'done' : 'more'
}

function keepBody(reader: ResponseReader, bytes: Buffer, from: number, to: number): void {
  reader.bodyBytes += to - from
  const text = bytes.toString('latin1', Math.max(from, to - tailBytes), to)
  reader.tail = text.length === tailBytes ? text : (reader.tail + text).slice(-tailBytes)
}

function readChunks(reader: ResponseReader, bytes: Buffer, from: number): ReadOutcome {
  let at = from
  while (at < bytes.length) {
    if (reader.phase === 'data') {
      const to = Math.min(bytes.length, at + reader.left)
      keepBody(reader, bytes, at, to)
      reader.left -= to - at
      at = to
      if (reader.left === 0) reader.phase = 'data-end'
      continue
    }
    const byte = bytes[at++]!
    if (reader.phase === 'size') {
      if (!readSizeByte(reader, byte)) return 'broken'
    } else if (reader.phase === 'data-end') {
      if (byte === 10) {
        reader.phase = 'size'
        reader.size = -1
      } else if (byte !== 13) return 'broken'
    } else if (byte === 10) {
      if (reader.trailerLine === 0) return at === bytes.length ? 'done' : 'broken'
      reader.trailerLine = 0
    } else if (byte !== 13) reader.trailerLine++
  }
  return 'more'
}

function readSizeByte(reader: ResponseReader, byte: number): boolean {
  if (byte === 13) return reader.size >= 0
  if (byte === 10) {
    reader.left = reader.size
    reader.phase = reader.size === 0 ? 'trailer' : 'data'
    reader.trailerLine = 0
    return reader.size >= 0
  }
  const digit =
    byte >= 48 && byte <= 57 ? byte - 48 : byte >= 97 && byte <= 102 ? byte - 87 : byte - 55
  if (digit < 0 || digit > 15 || (digit < 10 && byte > 57)) return false
  reader.size = Math.max(0, reader.size) * 16 + digit
  return true
}
