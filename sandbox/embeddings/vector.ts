// A made-up vector for an input: always the same one, of length 1. Fewer dimensions are the
// beginning of more, stretched to length 1 again, as with real models.
import { randomFrom } from '../text/prose.ts'
import type { Input } from './request.ts'

/** In single precision, so that a list of numbers and Base64 carry the very same values. */
export function vectorOf(input: Input, dimensions: number): Float32Array {
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(input)).digest('hex')
  const random = randomFrom(Number.parseInt(hash.slice(0, 8), 16))
  const raw = Float64Array.from({ length: dimensions }, () => random() * 2 - 1)
  const length = Math.hypot(...raw)
  // A vector of zeros has no direction; one dimension in four billion would need this.
  if (length === 0) return Float32Array.from(raw, (_, index) => (index === 0 ? 1 : 0))
  return Float32Array.from(raw, (value) => value / length)
}

/** Little-endian, as every machine the gateway runs on keeps its numbers. */
export const base64Of = (vector: Float32Array): string =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
