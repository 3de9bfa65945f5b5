// A request to an address that has been judged: dialled by number, under the name that was asked
// for, with no proxy in between. Neither judges nor follows anything.
import { isIP } from 'node:net'
import { Exchange, type HttpAnswer } from '../http/answer.ts'
import { HttpConnection, type Origin } from '../http/connection.ts'
import { HttpError } from '../http/error.ts'
import type { Guarded } from './address-guard.ts'

const connectMs = 5_000
/** Of the addresses of one name, as long as none of them takes the connection. */
const maxTried = 4
/** Enough for 5 MB/s at 25 ms, and little beside a reader that is slow. */
const receiveBytes = 128 * 1024
/** A connection serves one request: nobody else may find it by its address. */
const limits = { maxHeaderBytes: 64 * 1024, idleMs: 0 }
const noPool = { keep: (connection: HttpConnection) => connection.drop(), forget() {} }

/** Ends what is under way, whichever hop it has come to. */
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

  /** It is over; nobody has to be heard any more. */
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
  // Verification is said aloud, as an environment variable can turn it off.
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
