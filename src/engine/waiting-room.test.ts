// Calls that wait for room: in order, bounded in number and time, and free to leave.
import { expect, test } from 'bun:test'
import { WaitingRoom } from './waiting-room.ts'

const longMs = 60_000

function room({ queuedCalls = 10, queueMs = longMs } = {}) {
  const waiting = new WaitingRoom({ queuedCalls })
  const told: string[] = []
  const wait = (name: string, channels: string[], signal = new AbortController().signal) =>
    waiting.wait(channels, queueMs, signal).then((hasRoom) => told.push(`${name}: ${hasRoom}`))
  const settle = () => Bun.sleep(0)
  return { waiting, told, wait, settle }
}

test('first come, first served, one for each call that ends', async () => {
  const { waiting, told, wait, settle } = room()
  for (const name of ['1', '2', '3']) void wait(name, ['a'])
  await settle()
  expect(told).toEqual([])
  waiting.freed('a')
  await settle()
  expect(told).toEqual(['1: true'])
  waiting.freed('a')
  waiting.freed('a')
  waiting.freed('a')
  await settle()
  expect(told).toEqual(['1: true', '2: true', '3: true'])
})

test('only those who wait for that channel are woken', async () => {
  const { waiting, told, wait, settle } = room()
  void wait('a', ['a'])
  void wait('b', ['b'])
  void wait('both', ['a', 'b'])
  waiting.freed('c')
  waiting.freed('b')
  waiting.freed('b')
  await settle()
  expect(told).toEqual(['b: true', 'both: true'])
  waiting.freed('a')
  await settle()
  expect(told).toHaveLength(3)
})

test('one too many does not wait at all, until another has gone', async () => {
  const { waiting, told, wait } = room({ queuedCalls: 2 })
  void wait('1', ['a'])
  void wait('2', ['a'])
  await wait('3', ['a'])
  expect(told).toEqual(['3: false'])
  waiting.freed('a')
  void wait('4', ['a'])
  await wait('5', ['a'])
  expect(told).toEqual(['3: false', '1: true', '5: false'])
  waiting.freed('a')
  waiting.freed('a')
})

test('nobody waits for ever', async () => {
  const { told, wait } = room({ queueMs: 5 })
  await Promise.all([wait('1', ['a']), wait('2', ['b'])])
  expect(told).toEqual(['1: false', '2: false'])
})

test('a caller that leaves gives its place to the next', async () => {
  const { waiting, told, wait, settle } = room({ queuedCalls: 2 })
  const caller = new AbortController()
  const first = wait('1', ['a'], caller.signal)
  void wait('2', ['a'])
  caller.abort()
  await first
  void wait('3', ['a'])
  waiting.freed('a')
  waiting.freed('a')
  await settle()
  expect(told).toEqual(['1: false', '2: true', '3: true'])
})

test('a caller that has left already is not let in', async () => {
  const { told, wait } = room()
  await wait('1', ['a'], AbortSignal.abort())
  expect(told).toEqual(['1: false'])
})

test('whoever was woken is not told again when its caller leaves', async () => {
  const { waiting, told, wait, settle } = room()
  const caller = new AbortController()
  void wait('1', ['a'], caller.signal)
  waiting.freed('a')
  caller.abort()
  await settle()
  expect(told).toEqual(['1: true'])
})
