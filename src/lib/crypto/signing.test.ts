import { expect, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import {
  createSigner,
  hashText,
  isPublicKey,
  isSigned,
  newDigest,
  newKeyPair,
  publicPem,
} from './signing.ts'

const pair = newKeyPair()
const signer = createSigner(pair)

test('what is signed is known by its key, and by no other', () => {
  const signature = signer.sign('a bill')
  expect(signer.sign('a bill')).toBe(signature)
  expect(isSigned('a bill', pair.key, signature)).toBe(true)
  expect(isSigned('a Bill', pair.key, signature)).toBe(false)
  expect(isSigned('a bill', newKeyPair().key, signature)).toBe(false)
})

test('a key and a signature have one spelling', () => {
  const signature = signer.sign('a bill')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = [...alphabet].filter((letter) => letter !== signature.at(-1))
  for (const letter of others) {
    expect(isSigned('a bill', pair.key, signature.slice(0, -1) + letter)).toBe(false)
  }
  for (const other of [`${signature}=`, `${signature} `, '', signature.slice(1)]) {
    expect(isSigned('a bill', pair.key, other)).toBe(false)
  }
  expect([pair.key, `${pair.key}=`, '', 'x'.repeat(43)].map(isPublicKey)).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('other tools can check it too', () => {
  const key = createPublicKey(publicPem(pair.key))
  const signature = Buffer.from(signer.sign('a bill'), 'base64url')
  expect(verify(null, Buffer.from('a bill'), key, signature)).toBe(true)
})

test('no public key looks like a flag', () => {
  for (let i = 0; i < 300; i++) expect(newKeyPair().key[0]).not.toBe('-')
})

test('a hash is the one everybody computes', () => {
  expect(hashText('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
  const digest = newDigest()
  digest.add('a')
  digest.add('b')
  expect(digest.end()).toBe(hashText('a\nb\n'))
})
