// The header lists every change once, in order, and stays short.
import { expect, test } from 'bun:test'
import { Losses, lossHeader, notCarried } from './losses.ts'

test('names are sorted and listed once', () => {
  const losses = new Losses()
  expect(lossHeader(losses.names)).toBeUndefined()
  for (const name of ['top_k', 'cache_control', 'top_k']) losses.add(name)
  expect(lossHeader(losses.names)).toBe('cache_control;top_k')
})

test('a long list is cut at a whole name', () => {
  const losses = new Losses()
  for (let at = 0; at < 400; at++) losses.add(`field_${at}`)
  expect(lossHeader(losses.names)!.length).toBeLessThanOrEqual(1_024)
  expect(lossHeader(losses.names)).toMatch(/^(field_\d+;)+\.\.\.$/)
})

test('a field that cannot be carried is refused by name', () => {
  const refusal = notCarried('stop', 'its upstream has no stop sequences')
  expect([refusal.status, refusal.extras.param]).toEqual([400, 'stop'])
  expect(refusal.message).toContain("'stop'")
})
