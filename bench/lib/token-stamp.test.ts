import { expect, test } from 'bun:test'
import { chatDelta } from '../payload/chat.ts'
import { readStamps, stampToken } from './token-stamp.ts'

test('a stamp survives its way through an event', () => {
  const stamp = { sentMs: 1_760_000_000_123.456, heldMs: 20.125 }
  expect(readStamps(chatDelta('m', stampToken(stamp)))).toEqual([stamp])
})

test('all stamps of some bytes are read, and one that was cut is not', () => {
  const one = chatDelta('m', stampToken({ sentMs: 5, heldMs: 0 }))
  const two = chatDelta('m', stampToken({ sentMs: 6, heldMs: 0 }))
  expect(readStamps(one + two).map(({ sentMs }) => sentMs)).toEqual([5, 6])
  const cut = stampToken({ sentMs: 7, heldMs: 0 }).slice(0, -1)
  expect(readStamps(cut)).toEqual([])
  expect(readStamps('')).toEqual([])
})
