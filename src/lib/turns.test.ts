import { expect, test } from 'bun:test'
import { copyInTurns, mapInTurns, nextTurn } from './turns.ts'

const nextImmediate = (): Promise<void> => new Promise((go) => setImmediate(go))

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('each piece of work has a turn of its own', async () => {
  const seen: string[] = []
  const piece = async (name: string) => {
    await nextTurn()
    seen.push(name)
  }
  const other = async () => {
    await nextImmediate()
    await nextImmediate()
    seen.push('other')
  }
  await Promise.all([piece('a'), other(), piece('b'), piece('c')])
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('c'))
  expect(seen.filter((name) => name !== 'other')).toEqual(['a', 'b', 'c'])
})

/** How many turns others had between two pieces of work. */
async function turnsBetween(): Promise<number> {
  let turns = 0
  let isOver = false
  await nextTurn()
  work(20)
  const counted = (async () => {
    for (; !isOver; turns++) await nextImmediate()
  })()
  await nextTurn()
  const between = turns
  isOver = true
  await counted
  return between
}

test('a long piece is followed by a pause in which others have several turns', async () => {
  // A machine that stands still may use up the pause, but not each time.
  let most = 0
  for (let attempt = 0; attempt < 10 && most < 3; attempt++) {
    most = Math.max(most, await turnsBetween())
  }
  expect(most).toBeGreaterThanOrEqual(3)
})

test('maps in order, however many there are', async () => {
  const items = Array.from({ length: 1_000 }, (_, i) => i)
  expect(await mapInTurns(items, (item) => item * 2)).toEqual(items.map((item) => item * 2))
})

test('many bytes are copied in turns, however they are cut', async () => {
  const bytes = Buffer.alloc(10_000_000, 'a long body ')
  const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 9_000_000), bytes.subarray(9_000_000)]
  let turns = 0
  let isOver = false
  const counted = (async () => {
    for (; !isOver; turns++) await nextImmediate()
  })()
  const copy = await copyInTurns(pieces, bytes.length)
  isOver = true
  await counted
  expect(copy.equals(bytes)).toBe(true)
  expect(turns).toBeGreaterThan(1)
  expect((await copyInTurns([], 0)).length).toBe(0)
})
