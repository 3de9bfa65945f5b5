// Reads the bytes of a body: never more than the limit, not slower than allowed, and a large one only when
// there is room.
import { Refusal, refuse } from '../../contract/errors.ts'
import { nextTurn } from '../../lib/turns.ts'
import type { RequestContext } from '../request-context.ts'
import { bodyRoom, smallBodyBytes, type TakenRoom } from './body-room.ts'

interface ChunkLimits {
  bodyBytes: number
  bodyMs: number
}

/** The whole body; a large one has taken its room by then. */
export async function readBytes(
  x: RequestContext,
  limits: ChunkLimits,
): Promise<Buffer<ArrayBuffer> | Refusal> {
  const { request } = x
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limits.bodyBytes) return tooLarge(limits)
  if (request.body === null) return Buffer.alloc(0)
  const room = await roomFor(x, declared)
  if (room instanceof Refusal) return room
  const reader = request.body.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reader.cancel().catch(() => {})
  }, limits.bodyMs)
  const gathered = new Gathered(declared)
  let counted = Math.max(declared, smallBodyBytes)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (isLate) return incomplete('too slow')
      if (done) return await gathered.whole()
      const size = gathered.add(value)
      const refusal = size > limits.bodyBytes ? tooLarge(limits) : grown(room, size - counted)
      if (refusal !== undefined) {
        reader.cancel().catch(() => {})
        return refusal
      }
      counted = Math.max(counted, size)
    }
  } catch (cause) {
    return incomplete(cause)
  } finally {
    clearTimeout(timer)
  }
}

/** Collects chunks; into one buffer from the start where the length is known. */
class Gathered {
  readonly #place: Buffer<ArrayBuffer> | undefined
  readonly #chunks: Uint8Array[] = []
  #size = 0

  constructor(declared: number) {
    if (declared > 0) this.#place = Buffer.allocUnsafeSlow(declared)
  }

  /** Returns the number of bytes so far. */
  add(chunk: Uint8Array): number {
    const at = this.#size
    this.#size += chunk.byteLength
    if (this.#place === undefined || this.#size > this.#place.length) this.#chunks.push(chunk)
    else this.#place.set(chunk, at)
    return this.#size
  }

  async whole(): Promise<Buffer<ArrayBuffer>> {
    if (this.#place !== undefined) return this.#place.subarray(0, this.#size)
    if (this.#size > smallBodyBytes) await nextTurn()
    return Buffer.concat(this.#chunks)
  }
}

/** The answer to the request gives it back. */
async function roomFor(x: RequestContext, declared: number): Promise<TakenRoom | Refusal> {
  const bytes = declared > smallBodyBytes ? declared : 0
  const room = await bodyRoom.take(x.payer ?? '', bytes)
  if (!(room instanceof Refusal)) x.releaseBody = room.giveBack
  return room
}

const grown = (room: TakenRoom, bytes: number): Refusal | undefined =>
  bytes <= 0 || room.grow(bytes)
    ? undefined
    : refuse('overloaded', 'the gateway is reading too many large bodies at once', {
        retryAfterSeconds: 1,
      })

const incomplete = (cause: unknown): Refusal =>
  refuse('invalid_request', 'the request body did not arrive completely', { cause })

const tooLarge = ({ bodyBytes }: ChunkLimits): Refusal =>
  refuse('request_too_large', `the body is larger than ${bodyBytes} bytes`)
