// A lean HTTP/1.1 client for GET, POST and DELETE on the calling thread, with connection reuse.
// Follows no redirects, decodes no compression, keeps no cookies, and never sends a request twice.

import { isIP } from 'node:net'
import { type AnswerLimits, Exchange, type HttpCall } from './answer.ts'
import { HttpConnection, type Origin, type Pool } from './connection.ts'
import { HttpError } from './error.ts'

export type { HttpAnswer, HttpCall } from './answer.ts'
export { HttpError, type HttpErrorKind } from './error.ts'

const MAX_CACHED_URLS = 256
const SWEEP_MS = 1000
/** Longer bodies are not copied behind their head. */
const LONG_TEXT = 256 * 1024
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/
// Bytes beyond ASCII are rejected: servers interpret them differently in a header.
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
// Only the client sets where the request goes and where it ends.
const OWN_HEADER = /^(?:host|content-length|transfer-encoding)$/i

export interface HttpClient {
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    limits: { connectMs: number },
  ): HttpCall
  get(
    url: string,
    headers: Readonly<Record<string, string>>,
    limits: { connectMs: number },
  ): HttpCall
  delete(
    url: string,
    headers: Readonly<Record<string, string>>,
    limits: { connectMs: number },
  ): HttpCall
  /** Closes idle connections. */
  close(): void
}

interface HttpClientOptions {
  maxIdlePerOrigin?: number
  idleMs?: number
  maxHeaderBytes?: number
  tls?: { ca?: string; rejectUnauthorized?: boolean }
}

interface Target {
  readonly origin: Origin
  /** The request line without its method, and the host header. */
  readonly opening: string
}

export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const limits: AnswerLimits = {
    maxHeaderBytes: options.maxHeaderBytes ?? 64 * 1024,
    idleMs: options.idleMs ?? 4000,
  }
  const pool = new IdlePool(options.maxIdlePerOrigin ?? 512)
  const targets = new TargetCache(options.tls ?? {})

  return {
    post(url, headers, body, { connectMs }) {
      const exchange = new Exchange(limits)
      try {
        const { origin, opening } = targets.get(url)
        const head = `POST ${opening}${headerLines(headers)}Content-Length: `
        if (typeof body !== 'string' || body.length > LONG_TEXT) {
          const bytes = typeof body === 'string' ? Buffer.from(body) : body
          dispatchBytes(exchange, origin, head, bytes, connectMs)
          return exchange
        }
        const bodyBytes = Buffer.byteLength(body)
        const request = `${head}${bodyBytes}\r\n\r\n${body}`
        // All but the body is ASCII, so its length is its size.
        dispatch(exchange, origin, request, request.length - body.length + bodyBytes, connectMs)
      } catch (error) {
        exchange.fail(error instanceof HttpError ? error : new HttpError('broken', String(error)))
      }
      return exchange
    },
    get: (url, headers, { connectMs }) => bodiless('GET', url, headers, connectMs),
    delete: (url, headers, { connectMs }) => bodiless('DELETE', url, headers, connectMs),
    close: () => pool.close(),
  }

  function bodiless(
    method: 'GET' | 'DELETE',
    url: string,
    headers: Readonly<Record<string, string>>,
    connectMs: number,
  ): Exchange {
    const exchange = new Exchange(limits)
    try {
      const { origin, opening } = targets.get(url)
      const request = `${method} ${opening}${headerLines(headers)}\r\n`
      dispatch(exchange, origin, request, request.length, connectMs)
    } catch (error) {
      exchange.fail(error instanceof HttpError ? error : new HttpError('broken', String(error)))
    }
    return exchange
  }

  function dispatchBytes(
    exchange: Exchange,
    origin: Origin,
    head: string,
    body: Uint8Array,
    connectMs: number,
  ): void {
    const opening = Buffer.from(`${head}${body.length}\r\n\r\n`)
    if (body.length > LONG_TEXT)
      dispatch(exchange, origin, opening, opening.length, connectMs, body)
    else {
      const whole = Buffer.concat([opening, body])
      dispatch(exchange, origin, whole, whole.length, connectMs)
    }
  }

  function dispatch(
    exchange: Exchange,
    origin: Origin,
    request: string | Buffer,
    requestBytes: number,
    connectMs: number,
    body?: Uint8Array,
  ): void {
    const kept = pool.take(origin)
    if (kept !== undefined) kept.send(exchange, request, requestBytes, body)
    else new HttpConnection(origin, pool).open(exchange, request, requestBytes, connectMs, body)
  }
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name]!
    if (!maySend(name) || !HEADER_VALUE.test(value)) {
      throw new HttpError('invalid', 'the request has a header that cannot be sent')
    }
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** Cache: the same few names recur. */
const goodNames = new Set<string>()
const MAX_GOOD_NAMES = 256

function maySend(name: string): boolean {
  if (goodNames.has(name)) return true
  if (!HEADER_NAME.test(name) || OWN_HEADER.test(name)) return false
  if (goodNames.size < MAX_GOOD_NAMES) goodNames.add(name)
  return true
}

class TargetCache {
  readonly #tls: { ca?: string; rejectUnauthorized?: boolean }
  readonly #targets = new Map<string, Target>()
  readonly #origins = new Map<string, Origin>()

  constructor(tls: { ca?: string; rejectUnauthorized?: boolean }) {
    this.#tls = tls
  }

  get(url: string): Target {
    const known = this.#targets.get(url)
    if (known !== undefined) return known
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    const protocol = parsed?.protocol
    if (parsed === undefined || (protocol !== 'http:' && protocol !== 'https:')) {
      throw new HttpError('invalid', 'the address is not an http or https URL')
    }
    if (parsed.username !== '' || parsed.password !== '') {
      throw new HttpError('invalid', 'the address holds credentials')
    }
    const target = {
      origin: this.#origin(parsed),
      opening: `${parsed.pathname}${parsed.search} HTTP/1.1\r\nHost: ${parsed.host}\r\n`,
    }
    dropOldest(this.#targets)
    this.#targets.set(url, target)
    return target
  }

  #origin(url: URL): Origin {
    const known = this.#origins.get(url.origin)
    if (known !== undefined) return known
    const secure = url.protocol === 'https:'
    const hostname = url.hostname.replace(/^\[|\]$/g, '')
    const named = isIP(hostname) === 0 ? { serverName: hostname } : {}
    const origin: Origin = {
      hostname,
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      // Never an empty object, which Bun takes for no TLS at all.
      tls: secure ? { rejectUnauthorized: true, ...this.#tls, ...named } : undefined,
      idle: [],
    }
    dropOldest(this.#origins)
    this.#origins.set(url.origin, origin)
    return origin
  }
}

function dropOldest(map: Map<string, unknown>): void {
  if (map.size < MAX_CACHED_URLS) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

class IdlePool implements Pool {
  readonly #maxPerOrigin: number
  /** Origins with idle connections: those a sweep has to visit. */
  readonly #warm = new Set<Origin>()
  #sweeping: ReturnType<typeof setInterval> | undefined
  #closed = false

  constructor(maxPerOrigin: number) {
    this.#maxPerOrigin = maxPerOrigin
  }

  /** The most recently used connection: the others may expire. */
  take(origin: Origin): HttpConnection | undefined {
    for (;;) {
      const connection = origin.idle.pop()
      if (connection === undefined) return undefined
      if (connection.idleUntilMs > performance.now()) return connection
      connection.drop()
    }
  }

  keep(connection: HttpConnection, keepMs: number): void {
    const { idle } = connection.origin
    if (this.#closed || idle.length >= this.#maxPerOrigin) {
      connection.drop()
      return
    }
    connection.idleUntilMs = performance.now() + keepMs
    idle.push(connection)
    if (idle.length === 1) this.#warm.add(connection.origin)
    if (this.#sweeping === undefined) this.#startSweeping()
  }

  #startSweeping(): void {
    this.#sweeping = setInterval(() => this.#sweep(performance.now()), SWEEP_MS)
    this.#sweeping.unref()
  }

  forget(connection: HttpConnection): void {
    const { idle } = connection.origin
    const at = idle.lastIndexOf(connection)
    if (at >= 0) idle.splice(at, 1)
  }

  #sweep(nowMs: number): void {
    for (const origin of this.#warm) {
      for (const connection of origin.idle.filter((each) => each.idleUntilMs <= nowMs)) {
        connection.drop()
      }
      if (origin.idle.length === 0) this.#warm.delete(origin)
    }
    if (this.#warm.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }

  close(): void {
    this.#closed = true
    this.#sweep(Number.POSITIVE_INFINITY)
  }
}
