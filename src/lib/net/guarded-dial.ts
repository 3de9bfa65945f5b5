// A request to a checked address: dialled by IP, under the requested host name, without a proxy.
// Checks no address and follows no redirect.
import { isIP } from 'node:net'
import { Exchange, type HttpAnswer } from '../http/answer.ts'
import { HttpConnection, type Origin } from '../http/connection.ts'
import { HttpError } from '../http/error.ts'
import type { Guarded } from './address-guard.ts'

const connectMs = 5_000
/** Addresses of one name to try while none accepts the connection. */
const maxTried = 4
/** Enough for 5 MB/s at 25 ms, and little for a slow reader. */
const receiveBytes = 128 * 1024
/** A connection serves one request: no other request may reuse it by its address. */
const limits = { maxHeaderBytes: 64 * 1024, idleMs: 0 }
const noPool = { keep: (connection: HttpConnection) => connection.drop(), forget() {} }

/** Stops the request, whichever hop it has reached. */
export class Stop {
  stopped = false
  call: { cancel(): void } | undefined
  readonly #signal: AbortSignal | undefined
  readonly #onAbort = () => this.stop()

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.stopped = signal?.aborted === true
  }

  stop(): void {
    this.stopped = true
    this.release()
    this.call?.cancel()
  }

  /** The request is over; removes the listeners. */
  release(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}

export interface GuardedRequest {
  text: string
  /** Its size on the wire. */
  bytes: number
}

/** A request is never sent twice: the next address is tried only if this one took no connection. */
export async function dialGuarded(
  { addresses, url }: Exclude<Guarded, { problem: string }>,
  request: GuardedRequest,
  stop: Stop,
  tls?: { ca: string },
): Promise<HttpAnswer> {
  for (const [index, address] of addresses.slice(0, maxTried).entries()) {
    if (stop.stopped) break
    const exchange = new Exchange(limits)
    stop.call = exchange
    const connection = new HttpConnection(originOf(address, url, tls), noPool)
    connection.open(exchange, request.text, request.bytes, connectMs)
    try {
      return await exchange.answer
    } catch (error) {
      const isLast = index + 1 === Math.min(addresses.length, maxTried)
      if (isLast || !isUnconnected(error)) throw error
    }
  }
  throw new HttpError('cancelled', 'the request was stopped')
}

const isUnconnected = (error: unknown): boolean =>
  error instanceof HttpError && (error.kind === 'unreachable' || error.kind === 'timeout')

function originOf(address: string, url: URL, tls: { ca: string } | undefined): Origin {
  const secure = url.protocol === 'https:'
  const name = url.hostname.replace(/^\[|\]$|\.$/g, '')
  // Verification is set explicitly, as an environment variable can turn it off.
  const verified = {
    ...tls,
    rejectUnauthorized: true,
    ...(isIP(name) === 0 && { serverName: name }),
  }
  return {
    hostname: address,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    tls: secure ? verified : undefined,
    narrowBytes: receiveBytes,
    idle: [],
  }
}
