// A list of what is under way behaves like a set, whatever is added and deleted, and in which order.
import { edenGC, fullGC, heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { InFlight } from './in-flight.ts'

test('random additions and deletions leave the same items as in a set', () => {
  let state = 7
  const below = (max: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * max)
  }
  const items = Array.from({ length: 40 }, () => ({ index: -1 }))
  const list = new InFlight<(typeof items)[number]>()
  const set = new Set<(typeof items)[number]>()
  for (let n = 0; n < 5_000; n++) {
    const item = items[below(items.length)]!
    if (below(2) === 0) {
      list.add(item)
      set.add(item)
    } else expect(list.delete(item)).toBe(set.delete(item))
    expect(list.size).toBe(set.size)
  }
  expect(new Set(list)).toEqual(set)
  expect(items.filter(({ index }) => index === -1)).toHaveLength(items.length - set.size)
})

test('items may leave while all of them are visited', () => {
  const list = new InFlight<{ index: number }>()
  const items = Array.from({ length: 5 }, () => ({ index: -1 }))
  for (const item of items) list.add(item)
  const visited: object[] = []
  for (const item of list) {
    visited.push(item)
    list.delete(item)
    list.delete(items[4]!)
  }
  expect(visited).toEqual(items.slice(0, 4))
  expect(list.size).toBe(0)
})

test('what has left does not survive a collection of young objects', () => {
  const list = new InFlight<{ index: number; payload: Uint8Array }>()
  const under: { index: number; payload: Uint8Array }[] = []
  const count = () => heapStats().objectTypeCounts['Uint8Array'] ?? 0
  const churn = (calls: number) => {
    for (let n = 0; n < calls; n++) {
      const item = { index: -1, payload: new Uint8Array(8) }
      list.add(item)
      under.push(item)
      if (under.length > 64) list.delete(under.shift()!)
    }
  }
  churn(1_000)
  fullGC()
  const before = count()
  churn(20_000)
  edenGC()
  // With a Set in its place a third of them survive.
  expect(count() - before).toBeLessThan(2_000)
})
