// Room for large bodies: bounded for all and for each, waited for in order, given back once.
import { expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { BodyRoom, type TakenRoom } from './body-room.ts'

const limits = { bytes: 100, accountBytes: 60, waitMs: 20, queued: 2 }

async function taken(room: BodyRoom, account: string, bytes: number): Promise<TakenRoom> {
  const got = await room.take(account, bytes)
  if (got instanceof Refusal) throw new Error(got.message)
  return got
}

const codeOf = async (asked: Promise<TakenRoom | Refusal>) => {
  const got = await asked
  return got instanceof Refusal ? [got.code, got.extras.retryAfterSeconds] : 'room'
}

test('an account that has its share is told so, and others still find room', async () => {
  const room = new BodyRoom(limits)
  const first = await taken(room, 'a', 60)
  expect(await codeOf(room.take('a', 1))).toEqual(['rate_limit_exceeded', 1])
  const other = await taken(room, 'b', 40)
  expect(await codeOf(room.take('c', 1))).toEqual(['overloaded', 1])
  first.giveBack()
  first.giveBack()
  expect(room.takenBytes).toBe(40)
  other.giveBack()
  expect(room.takenBytes).toBe(0)
})

test('room that is given back goes to those who wait, in their order', async () => {
  const room = new BodyRoom({ ...limits, waitMs: 5_000 })
  const first = await taken(room, 'a', 60)
  const order: string[] = []
  const second = taken(room, 'b', 50).then((got) => {
    order.push('b')
    return got
  })
  const third = taken(room, 'c', 30).then((got) => {
    order.push('c')
    return got
  })
  first.giveBack()
  for (const got of await Promise.all([second, third])) got.giveBack()
  expect(order).toEqual(['b', 'c'])
  expect(room.takenBytes).toBe(0)
})

test('an account that waits for its own room keeps nobody else waiting', async () => {
  const room = new BodyRoom({ ...limits, waitMs: 5_000 })
  const first = await taken(room, 'a', 60)
  const again = taken(room, 'a', 30)
  const other = await taken(room, 'b', 40)
  first.giveBack()
  other.giveBack()
  ;(await again).giveBack()
  expect(room.takenBytes).toBe(0)
})

test('no more wait than may', async () => {
  const room = new BodyRoom({ ...limits, waitMs: 5_000 })
  const first = await taken(room, 'a', 60)
  const waiting = [taken(room, 'b', 50), taken(room, 'b', 50)]
  expect(await codeOf(room.take('c', 50))).toEqual(['overloaded', 1])
  first.giveBack()
  ;(await waiting[0]!).giveBack()
  ;(await waiting[1]!).giveBack()
})

test('a body of unknown size grows within the bounds', async () => {
  const room = new BodyRoom(limits)
  const one = await taken(room, 'a', 0)
  expect([one.grow(50), one.grow(11), one.grow(10)]).toEqual([true, false, true])
  one.giveBack()
  expect(room.takenBytes).toBe(0)
})
