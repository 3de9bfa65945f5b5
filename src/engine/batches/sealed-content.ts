// Content of files at rest: encrypted in frames, so that it is written and read as a stream. A frame that is
// changed, moved, repeated or left out does not open. Knows bytes only.
//
//   16 random bytes · frames: 4 bytes of length · ciphertext · 16 bytes of tag; the last is not full
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Seal } from '../../lib/crypto/seal.ts'

type Bytes = AsyncIterable<Uint8Array>

const frameBytes = 64 * 1024
const saltBytes = 16
const tagBytes = 16
const lengthBytes = 4

/** A key of its own for each content: the numbers of its frames can be the nonces. */
const keyOf = (seal: Seal, id: string, salt: Uint8Array): Uint8Array =>
  seal.derive(`content of ${id} ${Buffer.from(salt).toString('hex')}`)

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 8)
  return nonce
}

const markOf = (isLast: boolean): Buffer => Buffer.from(isLast ? 'last' : 'more')

export async function* encrypted(seal: Seal, id: string, content: Bytes): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes)
  const key = keyOf(seal, id, salt)
  let number = 0
  // In three pieces: to join them would copy all of the content once more.
  const frame = (plain: Uint8Array, isLast: boolean): Buffer[] => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++))
    cipher.setAAD(markOf(isLast))
    const body = cipher.update(plain)
    cipher.final()
    const length = Buffer.alloc(lengthBytes)
    length.writeUInt32BE(body.length)
    return [length, body, cipher.getAuthTag()]
  }
  yield salt
  const held = Buffer.alloc(frameBytes)
  let used = 0
  for await (const piece of content) {
    for (let at = 0; at < piece.byteLength; ) {
      const part = piece.subarray(at, at + frameBytes - used)
      held.set(part, used)
      used += part.byteLength
      at += part.byteLength
      if (used < frameBytes) continue
      yield* frame(held, false)
      used = 0
    }
  }
  yield* frame(held.subarray(0, used), true)
}

export async function* decrypted(seal: Seal, id: string, stored: Bytes): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0)
  let key: Uint8Array | undefined
  let number = 0
  let isOver = false
  for await (const piece of stored) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece])
    if (key === undefined) {
      if (held.length < saltBytes) continue
      key = keyOf(seal, id, held.subarray(0, saltBytes))
      held = held.subarray(saltBytes)
    }
    for (;;) {
      if (held.length < lengthBytes) break
      const length = held.readUInt32BE()
      const end = lengthBytes + length + tagBytes
      if (length > frameBytes || isOver) throw new Error('the content of a file is damaged')
      if (held.length < end) break
      const { plain, isLast } = opened(key, number++, held.subarray(lengthBytes, end))
      held = held.subarray(end)
      isOver = isLast
      if (plain.length > 0) yield plain
    }
  }
  if (!isOver || held.length > 0) throw new Error('the content of a file is incomplete')
}

/** The last frame is the only one that is not full. */
function opened(key: Uint8Array, number: number, frame: Buffer) {
  const body = frame.subarray(0, -tagBytes)
  const isLast = body.length < frameBytes
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number))
  decipher.setAAD(markOf(isLast))
  decipher.setAuthTag(frame.subarray(-tagBytes))
  const plain = decipher.update(body)
  decipher.final()
  return { plain, isLast }
}
