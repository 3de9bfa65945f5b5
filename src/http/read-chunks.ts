// The bytes of a body as they come: never more than the limit, not slower than allowed, and only when
// there is room for a large one.
import { Refusal, refuse } from '../contract/errors.ts'
import { bodyRoom, smallBodyBytes, type TakenRoom } from './body-room.ts'
import type { Exchange } from './exchange.ts'

export interface ChunkLimits {
  bodyBytes: number
  bodyMs: number
}

/** Undefined when all of it was taken. */
export async function readChunks(
  x: Exchange,
  limits: ChunkLimits,
  take: (chunk: Uint8Array) => void,
): Promise<Refusal | undefined> {
  const { request } = x
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limits.bodyBytes) return tooLarge(limits)
  if (request.body === null) return undefined
  const room = await roomFor(x, declared)
  if (room instanceof Refusal) return room
  const reader = request.body.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reader.cancel().catch(() => {})
  }, limits.bodyMs)
  try {
    let size = 0
    let counted = Math.max(declared, smallBodyBytes)
    for (;;) {
      const { done, value } = await reader.read()
      if (isLate) return incomplete('too slow')
      if (done) return undefined
      size += value.byteLength
      const refusal = size > limits.bodyBytes ? tooLarge(limits) : grown(room, size - counted)
      if (refusal !== undefined) {
        reader.cancel().catch(() => {})
        return refusal
      }
      counted = Math.max(counted, size)
      take(value)
    }
  } catch (cause) {
    return incomplete(cause)
  } finally {
    clearTimeout(timer)
  }
}

/** Whoever answers the request gives it back. */
async function roomFor(x: Exchange, declared: number): Promise<TakenRoom | Refusal> {
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
