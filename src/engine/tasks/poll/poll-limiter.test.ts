import { expect, test } from 'bun:test'
import { PollRoom } from './poll-limiter.ts'

const fill = (room: PollRoom, channelId: string) => {
  let entered = 0
  for (; room.roomFor(channelId) > 0; entered++) room.enter(channelId)
  return entered
}

/** Uses all its slots, again and again. */
function grow(room: PollRoom, channelId: string, tookMs: number): void {
  for (let turn = 0; turn < 24; turn++) {
    const entered = fill(room, channelId)
    for (let i = 0; i < entered; i++) room.leave(channelId, tookMs)
  }
}

test('a channel starts with little and earns room by answering quickly', () => {
  const room = new PollRoom()
  expect(room.roomFor('a')).toBe(64)
  grow(room, 'a', 200)
  expect(room.roomFor('a')).toBe(512)
  expect(room.busy).toBe(0)
})

test('a channel that does not use its room is given no more', () => {
  const room = new PollRoom()
  for (let i = 0; i < 1_000; i++) {
    room.enter('a')
    room.leave('a', 200)
  }
  expect(room.roomFor('a')).toBe(64)
})

test('a channel that hangs is left with a few, and recovers', () => {
  const room = new PollRoom()
  grow(room, 'a', 60_000)
  expect(room.roomFor('a')).toBe(8)
  grow(room, 'a', 200)
  expect(room.roomFor('a')).toBe(512)
})

test('however many channels hang at their widest, there is room for another', () => {
  const room = new PollRoom()
  const taken = ['a', 'b', 'c', 'd', 'e', 'f'].map((channelId) => {
    grow(room, channelId, 200)
    return fill(room, channelId)
  })
  expect(taken.slice(0, 3)).toEqual([512, 256, 128])
  expect(room.roomFor('z')).toBeGreaterThan(0)
  expect(room.free).toBeGreaterThan(0)
})
