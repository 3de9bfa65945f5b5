// Hands out videos and images over HTTP as an object store does: whole, in parts, or only their
// headers.

import { drawImage } from './image.ts'
import { type Found, type Medium, readMediaAddress } from './media-address.ts'
import { makeVideo } from './video.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Players ask for the same video many times, part by part. */
const maxKept = 16

export class MediaCache {
  readonly #kept = new Map<string, Bytes>()

  serve(request: Request, nowMs: number): Response {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response('GET or HEAD\n', { status: 405, headers: { allow: 'GET, HEAD' } })
    }
    const url = new URL(request.url)
    const found = readMediaAddress(url, nowMs)
    if (found.kind !== 'video' && found.kind !== 'image') return refuse(found.kind)
    const bytes = this.#bytesOf(url.pathname, found)
    return answer(request, bytes, contentTypes[found.kind])
  }

  #bytesOf(name: string, medium: Medium): Bytes {
    const bytes = this.#kept.get(name) ?? make(medium)
    this.#kept.delete(name)
    this.#kept.set(name, bytes)
    if (this.#kept.size > maxKept) this.#kept.delete(this.#kept.keys().next().value!)
    return bytes
  }
}

const make = (medium: Medium): Bytes =>
  medium.kind === 'video' ? makeVideo(medium.video) : drawImage(medium.image)

const contentTypes = { video: 'video/mp4', image: 'image/png' } as const

const refusals = {
  denied: [403, 'SignatureDoesNotMatch', 'The signature of this address is wrong.'],
  expired: [403, 'AccessDenied', 'Request has expired.'],
  unknown: [404, 'NoSuchKey', 'The specified key does not exist.'],
} as const

function refuse(kind: Exclude<Found['kind'], Medium['kind']>): Response {
  const [status, code, message] = refusals[kind]
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code>`
  const body = `${xml}<Message>${message}</Message></Error>\n`
  return new Response(body, { status, headers: { 'content-type': 'application/xml' } })
}

function answer(request: Request, bytes: Bytes, contentType: string): Response {
  const etag = `"${Bun.hash(bytes).toString(16)}"`
  const headers = { etag, 'accept-ranges': 'bytes', 'content-type': contentType }
  if (request.headers.get('if-none-match') === etag) {
    return new Response(null, { status: 304, headers })
  }
  const part = readRange(request.headers, etag, bytes.length)
  if (part === 'outside') {
    const range = { 'content-range': `bytes */${bytes.length}` }
    return new Response(null, { status: 416, headers: { ...headers, ...range } })
  }
  const { start, end } = part ?? { start: 0, end: bytes.length }
  const range = part && { 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }
  const length = { 'content-length': String(end - start) }
  const body = request.method === 'HEAD' ? null : bytes.subarray(start, end)
  const status = part === undefined ? 200 : 206
  return new Response(body, { status, headers: { ...headers, ...length, ...range } })
}

/** What is not understood, several parts among it, means the whole file. */
function readRange(
  headers: Headers,
  etag: string,
  size: number,
): { start: number; end: number } | 'outside' | undefined {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range') ?? '') ?? []
  if (first === '' && last === '') return undefined
  if ((headers.get('if-range') ?? etag) !== etag) return undefined
  if (first === '') {
    return Number(last) === 0 ? 'outside' : { start: Math.max(size - Number(last), 0), end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'outside'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
