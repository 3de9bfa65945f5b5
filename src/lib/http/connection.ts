// One socket to one origin: connects, verifies the peer's identity, sends one request at a time and
// passes incoming bytes to its exchange. Knows of the pool only its callback.

import type { Exchange, Link } from './answer.ts'
import { HttpError } from './error.ts'
import { setReceiveBuffer } from './receive-buffer.ts'

export interface Origin {
  readonly hostname: string
  readonly port: number
  /** Undefined for unencrypted connections. */
  readonly tls: Bun.TLSOptions | undefined
  /** Receive buffer in narrow mode; large enough for fast transfers over long distances. */
  readonly narrowBytes?: number
  readonly idle: HttpConnection[]
}

export interface Pool {
  /** The connection is idle; the pool may close it instead of keeping it. */
  keep(connection: HttpConnection, keepMs: number): void
  forget(connection: HttpConnection): void
}

type Socket = Bun.Socket<HttpConnection>

/** Not less: a window below half of a large packet (64 KiB on loopback) stalls senders. */
const NARROW_BYTES = 64 * 1024
/** More than most kernels grant. */
const WIDE_BYTES = 4 * 1024 * 1024

export class HttpConnection implements Link {
  readonly origin: Origin
  idleUntilMs = 0
  readonly #pool: Pool
  #socket: Socket | undefined
  #exchange: Exchange | undefined
  #request: string | Buffer = ''
  #requestBytes = 0
  /** Body of a request whose head alone is in #request. */
  #body: Uint8Array | undefined
  #unsent: Buffer | undefined
  #connectTimer: ReturnType<typeof setTimeout> | undefined
  #ready = false
  #otherSideEnded = false
  #closed = false
  #narrow = false

  constructor(origin: Origin, pool: Pool) {
    this.origin = origin
    this.#pool = pool
  }

  /** Connects and sends the request once the peer is verified. */
  open(
    exchange: Exchange,
    request: string | Buffer,
    requestBytes: number,
    connectMs: number,
    body?: Uint8Array,
  ): void {
    this.#assign(exchange, request, requestBytes, body)
    this.#connectTimer = setTimeout(() => {
      this.#fail(new HttpError('timeout', 'connecting took too long'))
    }, connectMs)
    const { hostname, port, tls } = this.origin
    try {
      const options = { hostname, port, socket: callbacks, data: this }
      const connecting = Bun.connect(tls === undefined ? options : { ...options, tls })
      connecting.catch((error: unknown) => this.connectFailed(error))
    } catch (error) {
      this.connectFailed(error)
    }
  }

  /** Sends another request on an idle connection. */
  send(
    exchange: Exchange,
    request: string | Buffer,
    requestBytes: number,
    body?: Uint8Array,
  ): void {
    this.#assign(exchange, request, requestBytes, body)
    this.#write()
  }

  #assign(
    exchange: Exchange,
    request: string | Buffer,
    requestBytes: number,
    body: Uint8Array | undefined,
  ): void {
    this.#body = body
    exchange.attach(this)
    this.#exchange = exchange
    this.#request = request
    this.#requestBytes = requestBytes
  }

  #write(): void {
    const request = this.#request
    const body = this.#body
    this.#request = ''
    this.#body = undefined
    const written = this.#socket?.write(request) ?? -1
    if (written === this.#requestBytes) {
      if (body === undefined) return
      this.#unsent = Buffer.from(body.buffer, body.byteOffset, body.length)
      this.drained()
    } else if (written < 0) this.#fail(new HttpError('broken', 'the connection was closed'))
    else {
      const bytes = typeof request === 'string' ? Buffer.from(request) : request
      const rest = bytes.subarray(written)
      this.#unsent = body === undefined ? rest : Buffer.concat([rest, body])
    }
  }

  #becomeReady(): void {
    clearTimeout(this.#connectTimer)
    this.#ready = true
    this.#write()
  }

  connectFailed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#fail(new HttpError('unreachable', `cannot connect: ${reason}`))
  }

  opened(socket: Socket): void {
    this.#socket = socket
    // The call may have ended while connecting; nothing can stop that earlier.
    if (this.#closed) socket.terminate()
    else if (this.origin.tls === undefined) this.#becomeReady()
  }

  shookHands(socket: Socket, success: boolean, error: Error | null): void {
    if (this.#closed || this.#ready) return
    const verified = success && error === null && socket.authorized
    // Deliberately unverified connections still need a completed handshake.
    const tolerated =
      this.origin.tls?.rejectUnauthorized === false && Boolean(socket.getPeerCertificate())
    if (verified || tolerated) this.#becomeReady()
    else this.#fail(new HttpError('tls', `TLS refused: ${error?.message ?? 'not authorized'}`))
  }

  received(data: Buffer): void {
    if (this.#closed) return
    if (this.#exchange !== undefined && this.#ready) this.#exchange.receive(data)
    else this.drop()
  }

  drained(): void {
    if (this.#unsent === undefined || this.#closed) return
    const written = this.#socket?.write(this.#unsent) ?? -1
    if (written < 0) this.#fail(new HttpError('broken', 'the connection was closed'))
    else if (written >= this.#unsent.length) this.#unsent = undefined
    else this.#unsent = this.#unsent.subarray(written)
  }

  otherSideEnded(): void {
    this.#otherSideEnded = true
  }

  socketClosed(error: Error | undefined): void {
    const exchange = this.#exchange
    const wasReady = this.#ready
    this.drop()
    if (exchange === undefined) return
    if (wasReady) exchange.closed(this.#otherSideEnded && error === undefined)
    else exchange.fail(new HttpError('unreachable', 'the connection was closed while connecting'))
  }

  failed(error: Error): void {
    this.#fail(new HttpError('broken', error.message))
  }

  #fail(error: HttpError): void {
    const exchange = this.#exchange
    this.drop()
    exchange?.fail(error)
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#closed) this.#socket?.resume()
  }

  narrow(): void {
    if (!this.#narrow) this.#setBuffer(true)
  }

  widen(): void {
    if (this.#narrow) this.#setBuffer(false)
  }

  #setBuffer(narrow: boolean): void {
    this.#narrow = narrow
    const fd = (this.#socket as { fd?: number } | undefined)?.fd
    if (fd !== undefined)
      setReceiveBuffer(fd, narrow ? (this.origin.narrowBytes ?? NARROW_BYTES) : WIDE_BYTES)
  }

  finished(keepMs: number): void {
    this.#exchange = undefined
    // A reply that came before the request was fully sent leaves a half-sent request behind.
    if (keepMs > 0 && this.#unsent === undefined && !this.#closed) this.#pool.keep(this, keepMs)
    else this.drop()
  }

  drop(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#connectTimer)
    const orderly = this.#exchange === undefined && this.#unsent === undefined
    if (this.#exchange === undefined) this.#pool.forget(this)
    this.#exchange = undefined
    this.#unsent = undefined
    this.#body = undefined
    this.#request = ''
    // A reset tells the peer at once that its work is no longer wanted. Not end(): over TLS it
    // waits for the peer's close notice, and one that never comes keeps the socket.
    if (orderly) this.#socket?.close()
    else this.#socket?.terminate()
  }
}

// Shared by all connections: every event finds its connection in the socket's data.
const callbacks: Bun.SocketHandler<HttpConnection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, success, error) => socket.data.shookHands(socket, success, error),
  data: (socket, data) => socket.data.received(data),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.otherSideEnded(),
  close: (socket, error) => socket.data.socketClosed(error),
  error: (socket, error) => socket.data.failed(error),
  connectError: (socket, error) => socket.data.connectFailed(error),
}
