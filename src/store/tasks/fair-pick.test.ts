import { expect, test } from 'bun:test'
import { type DueTask, pickFairly } from './fair-pick.ts'

/** `a1` is of account a, due at 1; `a1/x` of channel x. */
const due = (texts: string): DueTask[] =>
  texts.split(' ').map((id) => {
    const [name = '', channelId = 'main'] = id.split('/')
    return { id, accountId: name[0]!, channelId, dueMs: Number(name.slice(1)) }
  })

const pick = (texts: string, limit: number, room: Record<string, number> = {}) =>
  pickFairly(due(texts), limit, (channelId) => room[channelId] ?? 100)
    .map(({ id }) => id)
    .join(' ')

test('accounts take turns, whoever has waited longest first', () => {
  expect(pick('a1 a2 a3 b9 c8', 4)).toBe('a1 c8 b9 a2')
  expect(pick('a3 a1 a2', 9)).toBe('a1 a2 a3')
})

test('no more are picked than are wanted', () => {
  expect(pick('a1 b2 c3', 2)).toBe('a1 b2')
  expect(pick('a1', 0)).toBe('')
})

test('a channel takes no more than it has room for, and costs its accounts no turn', () => {
  expect(pick('a1/x a2/x a3/y b4/x', 9, { x: 1 })).toBe('a1/x a3/y')
  expect(pick('a1/x a2/y b3/x b4/y', 9, { x: 0 })).toBe('a2/y b4/y')
})
