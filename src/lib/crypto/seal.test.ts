import { expect, test } from 'bun:test'
import { createSeal } from './seal.ts'

const seal = createSeal(new Uint8Array(32).fill(7))

test('what was sealed opens again in its own row only', () => {
  const sealed = seal.encrypt('upstream-key-äöü', 'key_1')
  expect(sealed).not.toContain('upstream')
  expect(seal.decrypt(sealed, 'key_1')).toBe('upstream-key-äöü')
  expect(() => seal.decrypt(sealed, 'key_2')).toThrow()
})

test('another master key or one flipped byte does not open it', () => {
  const sealed = seal.encrypt('secret', 'row')
  expect(() => createSeal(new Uint8Array(32).fill(8)).decrypt(sealed, 'row')).toThrow()
  const bytes = Buffer.from(sealed.slice(3), 'base64url')
  bytes[20]! ^= 1
  expect(() => seal.decrypt(`v1.${bytes.toString('base64url')}`, 'row')).toThrow()
})

test('the same text seals differently each time, the same token hashes the same', () => {
  expect(seal.encrypt('a', 'r')).not.toBe(seal.encrypt('a', 'r'))
  expect(seal.hash('sk-1')).toBe(seal.hash('sk-1'))
  expect(seal.hash('sk-1')).not.toBe(createSeal(new Uint8Array(32)).hash('sk-1'))
})
