// Content at rest: any size comes back as it was, and nothing can be changed, cut or moved unnoticed.
import { expect, test } from 'bun:test'
import { createSeal } from '../../lib/crypto/seal.ts'
import { decrypted, encrypted } from './sealed-content.ts'

const seal = createSeal(new Uint8Array(32).fill(7))
const whole = async (parts: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(parts))
async function* cut(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const stored = (plain: Buffer, id = 'file-1') => whole(encrypted(seal, id, cut(plain, 10_000)))

test.each([0, 1, 65_535, 65_536, 65_537, 200_000])('%d bytes come back', async (size) => {
  const plain = Buffer.from(Array.from({ length: size }, (_, i) => i % 251))
  const kept = await stored(plain)
  expect(kept.includes(plain.subarray(0, 32)) && size > 31).toBe(false)
  for (const size of [1_000, 70_000, 1_000_000]) {
    expect((await whole(decrypted(seal, 'file-1', cut(kept, size)))).equals(plain)).toBe(true)
  }
})

test('damaged, shortened and foreign content does not open', async () => {
  const kept = await stored(Buffer.alloc(150_000, 'abc'))
  const frame = 4 + 65_536 + 16
  const changed = Buffer.from(kept)
  changed[100] = changed[100]! ^ 1
  const cases = {
    changed,
    short: kept.subarray(0, -1),
    withoutLast: kept.subarray(0, 16 + 2 * frame),
    withoutFirst: Buffer.concat([kept.subarray(0, 16), kept.subarray(16 + frame)]),
    longer: Buffer.concat([kept, kept.subarray(16, 16 + frame)]),
  }
  for (const bytes of Object.values(cases)) {
    expect(whole(decrypted(seal, 'file-1', cut(bytes, 5_000)))).rejects.toThrow()
  }
  expect(whole(decrypted(seal, 'file-2', cut(kept, 5_000)))).rejects.toThrow()
})
