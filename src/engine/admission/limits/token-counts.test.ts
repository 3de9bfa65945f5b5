import { expect, test } from 'bun:test'
import { TokenCounts } from './token-counts.ts'
import { windowMs } from './window.ts'

const minute = 1000 * windowMs

test('counts move from this minute to the one before, and then away', () => {
  const counts = new TokenCounts()
  counts.at('a', minute).admit(7)
  expect(counts.at('a', minute + windowMs).tokens).toEqual({ current: 0, previous: 7 })
  expect(counts.at('a', minute + windowMs).requests).toEqual({ current: 0, previous: 1 })
  expect(counts.at('a', minute + 2 * windowMs).tokens).toEqual({ current: 0, previous: 0 })
  counts.at('a', minute + 2 * windowMs).admit(7)
  expect(counts.at('a', minute + 4 * windowMs).tokens).toEqual({ current: 0, previous: 0 })
})

test('a correction goes to the minute it belongs to, and nowhere when that has passed', () => {
  const counts = new TokenCounts()
  const count = counts.at('a', minute)
  const began = count.minute
  count.admit(10)
  count.correct(began, 5)
  expect(count.tokens.current).toBe(15)
  counts.at('a', minute + windowMs).admit(1)
  count.correct(began, -3)
  expect(count.tokens).toEqual({ current: 1, previous: 12 })
  counts.at('a', minute + 2 * windowMs).admit(1)
  count.correct(began, 1000)
  expect(count.tokens).toEqual({ current: 1, previous: 1 })
  count.correct(began + 2, -1000)
  expect(count.tokens.current).toBe(0)
})

test('a clock that is set back forgets nothing', () => {
  const counts = new TokenCounts()
  counts.at('a', minute).admit(1)
  counts.at('a', minute + windowMs).admit(2)
  const little = counts.at('a', minute + windowMs - 1)
  expect([little.tokens, little.leftMs]).toEqual([{ current: 2, previous: 1 }, windowMs])
  const far = counts.at('a', minute - 50 * windowMs)
  expect(far.tokens).toEqual({ current: 2, previous: 1 })
  expect(counts.at('a', minute - 49 * windowMs).tokens).toEqual({ current: 0, previous: 2 })
})

test('a sweep drops what has been idle for two minutes, and nothing else', () => {
  const counts = new TokenCounts()
  counts.at('idle', minute)
  counts.at('running', minute).running = 1
  counts.at('asking', minute).asking = 1
  counts.at('told', minute).shared = true
  counts.at('later', minute + 1)
  counts.sweep(minute + 2 * windowMs)
  expect(counts.size).toBe(5)
  counts.sweep(minute + 2 * windowMs + 1)
  counts.sweep(minute + 2 * windowMs + 1)
  expect(counts.size).toBe(4)
  counts.at('running', minute).running = 0
  for (let turn = 0; turn < 3; turn++) counts.sweep(minute + 10 * windowMs)
  expect(counts.size).toBe(2)
})

test('sweeps are bounded, and reach everything in turn', () => {
  const counts = new TokenCounts()
  for (let i = 0; i < 25_000; i++) counts.at(`t${i}`, minute)
  counts.sweep(minute + 10 * windowMs)
  expect(counts.size).toBe(15_000)
  for (let turn = 0; turn < 4; turn++) counts.sweep(minute + 10 * windowMs)
  expect(counts.size).toBe(0)
})
