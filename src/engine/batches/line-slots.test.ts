// When lines of batches begin: at once while the gateway has nothing else to do, one after the other beside callers.
import { expect, test } from 'bun:test'
import { Callers } from './callers.ts'
import { LineSlots } from './line-slots.ts'

function slots(max = 4) {
  const now = { ms: 10_000, hasCallers: false }
  const nowMs = () => now.ms
  const callers = new Callers({ hasCalls: () => now.hasCallers, nowMs })
  const lines = new LineSlots({ max, callers, nowMs })
  const begun: string[] = []
  const take = (name: string, accountId = 'acc_a') =>
    lines.take(accountId).then(() => void begun.push(name))
  const pass = async (ms: number) => {
    now.ms += ms
    lines.next()
    await Bun.sleep(0)
    return begun.length
  }
  return { now, lines, begun, take, pass }
}

test('without callers as many run as may', async () => {
  const { lines, take, pass } = slots(2)
  for (const name of ['1', '2', '3']) void take(name)
  expect(await pass(0)).toBe(2)
  lines.leave('acc_a')
  expect(await pass(0)).toBe(3)
})

test('beside callers one begins after the other, also between their calls', async () => {
  const { now, take, pass } = slots()
  now.hasCallers = true
  for (const name of ['1', '2', '3', '4']) void take(name)
  expect(await pass(0)).toBe(1)
  expect(await pass(19)).toBe(1)
  now.hasCallers = false
  expect(await pass(1)).toBe(2)
  expect(await pass(0)).toBe(2)
  expect(await pass(1_000)).toBe(4)
})

test('beside callers lines begin later while the gateway is behind', async () => {
  const { now, take, pass } = slots()
  now.hasCallers = true
  void take('1')
  expect(await pass(0)).toBe(1)
  void take('2')
  // Its timer, of 20 ms, finds that 40 have passed.
  now.ms += 40
  await Bun.sleep(30)
  expect(await pass(150)).toBe(1)
  expect(await pass(20)).toBe(2)
})

test('accounts take turns, and one that found no room has fewer', async () => {
  const { lines, begun, take, pass } = slots(2)
  for (const name of ['a1', 'a2', 'a3']) void take(name)
  void take('b1', 'acc_b')
  await pass(0)
  lines.leave('acc_a')
  lines.shrink('acc_a')
  await pass(0)
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  lines.leave('acc_b')
  expect([await pass(0), lines.isOnlyLine('acc_a')]).toEqual([3, true])
})
