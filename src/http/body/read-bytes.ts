// Reads the bytes of a body: never more than the limit, not slower than allowed, and a large one only when
// there is room.
import { Refusal, refuse } from '../../contract/errors.ts'
import { longTextBytes } from '../../lib/json/json-thread.ts'
import { copyInTurns, nextTurn, ReadTurns } from '../../lib/turns.ts'
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
  if (declared === 0 || declared > longTextBytes) {
    return readChunks(request, limits, room, declared)
  }
  const bytes = await inTime(request.arrayBuffer(), limits)
  return bytes instanceof Refusal ? bytes : Buffer.from(bytes)
}

/** The same of a declared length that is within the limits, as text. */
export async function readDeclaredText(
  x: RequestContext,
  limits: ChunkLimits,
  declared: number,
): Promise<string | Refusal> {
  const room = await roomFor(x, declared)
  return room instanceof Refusal ? room : inTime(x.request.text(), limits)
}

/**
 * Gathered by the server, in less time than it takes to hand out its pieces; no more than was declared. A long one
 * would be moved by it again and again as it grows, tens of megabytes in one turn.
 */
async function inTime<T>(whole: Promise<T>, { bodyMs }: ChunkLimits): Promise<T | Refusal> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<Refusal>((resolve) => {
    timer = setTimeout(() => resolve(incomplete('too slow')), bodyMs)
  })
  try {
    return await Promise.race([whole, late])
  } catch (cause) {
    return incomplete(cause)
  } finally {
    clearTimeout(timer)
  }
}

async function readChunks(
  request: Request,
  limits: ChunkLimits,
  room: TakenRoom,
  declared: number,
): Promise<Buffer<ArrayBuffer> | Refusal> {
  const reader = request.body!.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reader.cancel().catch(() => {})
  }, limits.bodyMs)
  const whole = declared > 0 ? Buffer.allocUnsafeSlow(declared) : undefined
  const chunks: Uint8Array[] = []
  const turns = new ReadTurns()
  let [size, counted] = [0, Math.max(declared, smallBodyBytes)]
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (isLate) return incomplete('too slow')
      if (done) break
      if (whole === undefined) chunks.push(value)
      else whole.set(value, size)
      size += value.byteLength
      const refusal = size > limits.bodyBytes ? tooLarge(limits) : grown(room, size - counted)
      if (refusal !== undefined) {
        reader.cancel().catch(() => {})
        return refusal
      }
      counted = Math.max(counted, size)
      if (turns.isDue(value.byteLength)) await nextTurn()
    }
    if (size < declared) return incomplete('too short')
    return whole ?? (await copyInTurns(chunks, size))
  } catch (cause) {
    return incomplete(cause)
  } finally {
    clearTimeout(timer)
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
