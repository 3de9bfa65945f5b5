// The header lists every change once, in order, and stays short.
import { expect, test } from 'bun:test'
import { Losses, notCarried } from './losses.ts'

test('names are sorted and listed once', () => {
  const losses = new Losses()
  expect(losses.header).toBeUndefined()
  for (const name of ['top_k', 'cache_control', 'top_k']) losses.add(name)
  expect(losses.header).toBe('cache_control;top_k')
})

test('a long list is cut at a whole name', () => {
  const losses = new Losses()
  for (let at = 0; at < 400; at++) losses.add(`field_${at}`)
  expect(losses.header!.length).toBeLessThanOrEqual(1_024)
  expect(losses.header).toMatch(/^(field_\d+;)+\.\.\.$/)
})

test('a field that cannot be carried is refused by name', () => {
  const refusal = notCarried('stop', 'its upstream has no stop sequences')
  expect([refusal.status, refusal.extras.param]).toEqual([400, 'stop'])
  expect(refusal.message).toContain("'stop'")
})
