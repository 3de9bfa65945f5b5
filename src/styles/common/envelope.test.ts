// An envelope opens only unchanged, and only where it was made.
import { expect, test } from 'bun:test'
import { createEnvelopes, type Seal } from './envelope.ts'

const envelopes = createEnvelopes(new Uint8Array(32).fill(1))
const seal: Seal = { realm: 'messages up.example', data: 'sig==', text: 'Let me think…' }

test('an envelope gives its seal back', () => {
  expect(envelopes.unwrap(envelopes.wrap(seal))).toEqual(seal)
  const redacted: Seal = { realm: 'r', data: 'x', redacted: true, itemId: 'rs_1' }
  expect(envelopes.unwrap(envelopes.wrap(redacted))).toEqual(redacted)
})

test('an envelope that was changed anywhere does not open', () => {
  const text = envelopes.wrap(seal)
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'A' ? 'B' : 'A'
    const changed = text.slice(0, at) + other + text.slice(at + 1)
    const opened = envelopes.unwrap(changed)
    // The last letter of a tag has bits that say nothing.
    if (opened !== undefined) expect([opened, at]).toEqual([seal, text.length - 1])
  }
})

test.each(['', 'gw1', 'gw1...', 'gw1.a.b.c', 'ErUBCkYIBxgCIkDxyz', 'gw1.a.b.c.d'])(
  '%j is not an envelope',
  (text) => expect(envelopes.unwrap(text)).toBeUndefined(),
)

test('an envelope of another gateway does not open', () => {
  const other = createEnvelopes(new Uint8Array(32).fill(2))
  expect(other.unwrap(envelopes.wrap(seal))).toBeUndefined()
})
