// Calls that wait for a slot: in order, bounded in number and time, and cancellable.
import { expect, test } from 'bun:test'
import { lowPriority, WaitingRoom } from './waiting-room.ts'

const longMs = 60_000

function room({ queuedCalls = 10, queueMs = longMs } = {}) {
  const waiting = new WaitingRoom({ queuedCalls })
  const told: string[] = []
  const waitAs = (account: string, name: string, channels: string[], signal: AbortSignal) =>
    waiting
      .wait(account, channels, queueMs, signal)
      .then((hasRoom) => told.push(`${name}: ${hasRoom}`))
  const wait = (name: string, channels: string[], signal = new AbortController().signal) =>
    waitAs('acc_1', name, channels, signal)
  const settle = () => Bun.sleep(0)
  const freed = (channel: string, places: Record<string, number> = {}) =>
    waiting.freed(channel, (account) => places[account] ?? 0)
  return { waiting, told, wait, waitAs, settle, freed }
}

test('first come, first served, one for each call that ends', async () => {
  const { freed, told, wait, settle } = room()
  for (const name of ['1', '2', '3']) void wait(name, ['a'])
  await settle()
  expect(told).toEqual([])
  freed('a')
  await settle()
  expect(told).toEqual(['1: true'])
  freed('a')
  freed('a')
  freed('a')
  await settle()
  expect(told).toEqual(['1: true', '2: true', '3: true'])
})

test('only those who wait for that channel are woken', async () => {
  const { freed, told, wait, settle } = room()
  void wait('a', ['a'])
  void wait('b', ['b'])
  void wait('both', ['a', 'b'])
  freed('c')
  freed('b')
  freed('b')
  await settle()
  expect(told).toEqual(['b: true', 'both: true'])
  freed('a')
  await settle()
  expect(told).toHaveLength(3)
})

test('one too many does not wait at all, until another has gone', async () => {
  const { freed, told, wait } = room({ queuedCalls: 2 })
  void wait('1', ['a'])
  void wait('2', ['a'])
  await wait('3', ['a'])
  expect(told).toEqual(['3: false'])
  freed('a')
  void wait('4', ['a'])
  await wait('5', ['a'])
  expect(told).toEqual(['3: false', '1: true', '5: false'])
  freed('a')
  freed('a')
})

test('nobody waits for ever', async () => {
  const { told, wait } = room({ queueMs: 5 })
  await Promise.all([wait('1', ['a']), wait('2', ['b'])])
  expect(told).toEqual(['1: false', '2: false'])
})

test('a caller that leaves gives its place to the next', async () => {
  const { freed, told, wait, settle } = room({ queuedCalls: 2 })
  const caller = new AbortController()
  const first = wait('1', ['a'], caller.signal)
  void wait('2', ['a'])
  caller.abort()
  await first
  void wait('3', ['a'])
  freed('a')
  freed('a')
  await settle()
  expect(told).toEqual(['1: false', '2: true', '3: true'])
})

test('a caller that has left already is not let in', async () => {
  const { told, wait } = room()
  await wait('1', ['a'], AbortSignal.abort())
  expect(told).toEqual(['1: false'])
})

test('whoever was woken is not told again when its caller leaves', async () => {
  const { freed, told, wait, settle } = room()
  const caller = new AbortController()
  void wait('1', ['a'], caller.signal)
  freed('a')
  caller.abort()
  await settle()
  expect(told).toEqual(['1: true'])
})

const never = new AbortController().signal

test('the account with the fewest places comes first, then who has waited longest', async () => {
  const { freed, told, waitAs, settle } = room()
  for (const name of ['a1', 'a2', 'a3']) void waitAs('acc_a', name, ['x'], never)
  void waitAs('acc_b', 'b1', ['x'], never)
  void waitAs('acc_c', 'c1', ['x'], never)
  freed('x', { acc_a: 9, acc_b: 1, acc_c: 1 })
  freed('x', { acc_a: 9, acc_b: 2, acc_c: 1 })
  freed('x', { acc_a: 8, acc_b: 2, acc_c: 2 })
  await settle()
  expect(told).toEqual(['b1: true', 'c1: true', 'a1: true'])
})

test('an account that gets no more places is passed over', async () => {
  const { waiting, told, waitAs, settle } = room()
  void waitAs('acc_a', 'a1', ['x'], never)
  waiting.freed('x', () => undefined)
  await settle()
  expect(told).toEqual([])
  void waitAs('acc_b', 'b1', ['x'], never)
  waiting.freed('x', (account) => (account === 'acc_b' ? 0 : undefined))
  await settle()
  expect(told).toEqual(['b1: true'])
})

test('in a full room the account with the most calls gives way to the others', async () => {
  const { told, waitAs, settle } = room({ queuedCalls: 4 })
  for (const name of ['a1', 'a2', 'a3', 'a4']) void waitAs('acc_a', name, ['x'], never)
  void waitAs('acc_b', 'b1', ['x'], never)
  void waitAs('acc_b', 'b2', ['x'], never)
  await waitAs('acc_b', 'b3', ['x'], never)
  await waitAs('acc_a', 'a5', ['x'], never)
  await settle()
  expect(told).toEqual(['a4: false', 'a3: false', 'b3: false', 'a5: false'])
})

test('calls of low priority lose their place in a full room, and take none', async () => {
  const { told, waitAs, settle } = room({ queuedCalls: 2 })
  const { signal } = new AbortController()
  void waitAs(lowPriority, 'low', ['a'], signal)
  void waitAs('acc_1', '1', ['a'], signal)
  void waitAs('acc_2', '2', ['a'], signal)
  await settle()
  expect(told).toEqual(['low: false'])
  void waitAs(lowPriority, 'other low', ['a'], signal)
  await settle()
  expect(told).toEqual(['low: false', 'other low: false'])
})
