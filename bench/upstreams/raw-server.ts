// The part of HTTP/1.1 that the fake upstreams speak, over raw sockets, because they share the
// machine with what is measured: whole requests in, bytes out. Refuses to know what is answered.

import type { Socket } from 'bun'

interface Connection<Work> {
  input: string
  /** What a large request still lacks. */
  missing: number
  unsent: Buffer[]
  /** What is being answered on it; absent between answers and after it was closed. */
  work: Work | undefined
}

export type Peer<Work> = Socket<Connection<Work>>

interface Reception<Work> {
  /** A whole request. */
  received(peer: Peer<Work>, request: string): void
  /** All that was sent has gone out, after some of it had to wait. */
  drained?(peer: Peer<Work>): void
}

export const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: up-bench\r\n' +
  'transfer-encoding: chunked\r\n\r\n'

export const streamEnd = '0\r\n\r\n'

export function jsonResponse(body: string, status = '200 OK'): Buffer {
  const head =
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nx-request-id: up-bench\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

export function frameChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

/** POST /v1/x HTTP/1.1 -> /v1/x */
export function pathOf(request: string): string {
  const start = request.indexOf(' ') + 1
  return request.slice(start, request.indexOf(' ', start))
}

/** In the body, or in the path. */
export function modelOf(request: string): string {
  const found = /"model": ?"([^"]*)"/.exec(request) ?? /\/models\/([^:/ ]+):/.exec(request)
  return found?.[1] ?? ''
}

export const asksUsage = (request: string): boolean => /"include_usage": ?true/.test(request)

export const wantsStream = (request: string): boolean =>
  /"stream": ?true|^\S+ \S+:streamGenerateContent/.test(request)

/** Length of the first whole request in `input`, or undefined while some of it is missing. */
export function requestLength(input: string): number | undefined {
  const headEnd = input.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = input.slice(0, headEnd)
  const length = /content-length: *(\d+)/i.exec(head)
  if (length !== null) {
    const end = headEnd + 4 + Number(length[1])
    return input.length < end ? undefined : end
  }
  if (!/transfer-encoding: *chunked/i.test(head)) return headEnd + 4
  const last = input.indexOf('\r\n0\r\n\r\n', headEnd)
  return last === -1 ? undefined : last + 7
}

/** 0 when it is not known. */
function missingBytes(input: string): number {
  const headEnd = input.indexOf('\r\n\r\n')
  const length = headEnd === -1 ? null : /content-length: *(\d+)/i.exec(input.slice(0, headEnd))
  return length === null ? 0 : headEnd + 4 + Number(length[1]) - input.length
}

export function send<Work>(peer: Peer<Work>, bytes: Buffer): void {
  const { unsent } = peer.data
  if (unsent.length > 0) {
    unsent.push(bytes)
    return
  }
  const written = peer.write(bytes)
  if (written < bytes.length) unsent.push(bytes.subarray(Math.max(0, written)))
}

function sendUnsent<Work>(peer: Peer<Work>): void {
  const waiting = peer.data.unsent
  peer.data.unsent = []
  for (const bytes of waiting) send(peer, bytes)
}

/** The first whole request, if these bytes complete it. */
function takeRequest(data: Connection<unknown>, bytes: Buffer): string | undefined {
  data.input += bytes.toString('latin1', 0, bytes.length)
  data.missing -= bytes.length
  // To look for its end again and again would take longer than to receive it.
  if (data.missing > 0) return undefined
  const length = requestLength(data.input)
  if (length === undefined) {
    data.missing = missingBytes(data.input)
    return undefined
  }
  const request = data.input.slice(0, length)
  data.input = data.input.slice(length)
  return request
}

/** Listens on a free port and gives it. */
export function serveRaw<Work>(
  reception: Reception<Work>,
  tls?: { key: string; cert: string },
): number {
  // Over TLS a connection may end before it was opened.
  const forget = ({ data }: Peer<Work>) => {
    if (data !== undefined) data.work = undefined
  }
  const listener = Bun.listen<Connection<Work>>({
    hostname: '127.0.0.1',
    port: 0,
    ...(tls !== undefined && { tls }),
    socket: {
      open(peer) {
        peer.data = { input: '', missing: 0, unsent: [], work: undefined }
        peer.setNoDelay(true)
      },
      data(peer, bytes) {
        const request = takeRequest(peer.data, bytes)
        if (request !== undefined) reception.received(peer, request)
      },
      drain(peer) {
        sendUnsent(peer)
        if (peer.data.unsent.length === 0) reception.drained?.(peer)
      },
      close: forget,
      error: forget,
    },
  })
  return listener.port
}
