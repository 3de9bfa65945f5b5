// An envelope opens only unchanged, and only where it was made.
import { expect, test } from 'bun:test'
import { createEnvelopes, isEnvelope, type Seal } from './envelope.ts'

const envelopes = createEnvelopes(new Uint8Array(32).fill(1))
const seal: Seal = { realm: 'messages up.example', data: 'sig==', text: 'Let me think…' }

test('an envelope gives its seal back', () => {
  expect(envelopes.unwrap(envelopes.wrap(seal))).toEqual(seal)
  const redacted: Seal = { realm: 'r', data: 'x', redacted: true, itemId: 'rs_1' }
  expect(envelopes.unwrap(envelopes.wrap(redacted))).toEqual(redacted)
})

test('an envelope is canonical base64 with padding, whatever its length', () => {
  for (let length = 0; length < 12; length++) {
    const long: Seal = { realm: 'r', data: 'ü'.repeat(length) + '>?'.repeat(length) }
    const text = envelopes.wrap(long)
    expect(text).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
    expect(Buffer.from(text, 'base64').toString('base64')).toBe(text)
    expect(isEnvelope(text)).toBe(true)
    expect(envelopes.unwrap(text)).toEqual(long)
  }
})

test('an envelope that an SDK decoded and encoded in another alphabet gives its seal back', () => {
  const data = '~~~???>>>'
  const bytes = Buffer.from(envelopes.wrap({ realm: 'r', data }), 'base64')
  const urlSafe = bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  for (const text of [urlSafe, bytes.toString('base64url')]) {
    expect(isEnvelope(text)).toBe(true)
    expect(envelopes.unwrap(text)).toEqual({ realm: 'r', data })
  }
})

test('an envelope of an earlier version gives its seal back', () => {
  const old =
    'gw1.8d3df24e.eyJkYXRhIjoic2lnPT0iLCJ0ZXh0IjoiTGV0IG1lIHRoaW5r4oCmIiwicmVhbG0iOiJtZXNzYWdlcyB1cC5leGFtcGxlIn0.A27I3YQT1dPWISWL'
  expect(isEnvelope(old)).toBe(true)
  expect(envelopes.unwrap(old)).toEqual(seal)
  expect(envelopes.unwrap(old.replace('.eyJ', '.eyK'))).toBeUndefined()
})

test('an envelope that was changed anywhere does not open', () => {
  const text = envelopes.wrap(seal)
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'A' ? 'B' : 'A'
    const changed = text.slice(0, at) + other + text.slice(at + 1)
    const opened = envelopes.unwrap(changed)
    // The last letter has bits that say nothing.
    if (opened !== undefined) expect([opened, at > text.length - 4]).toEqual([seal, true])
  }
  for (let end = 0; end < text.length - 3; end++) {
    expect(envelopes.unwrap(text.slice(0, end))).toBeUndefined()
  }
})

test.each([
  '',
  'gw1',
  'gw1...',
  'gw1.a.b.c',
  'ErUBCkYIBxgCIkDxyz',
  'gw1.a.b.c.d',
  'gateway2',
  'gateway2AAAA',
  'gateway2 is not',
])('%j is not an envelope', (text) => expect(envelopes.unwrap(text)).toBeUndefined())

test('an envelope of another gateway does not open', () => {
  const other = createEnvelopes(new Uint8Array(32).fill(2))
  expect(other.unwrap(envelopes.wrap(seal))).toBeUndefined()
})
