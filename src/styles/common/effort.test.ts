// Words and budgets of reasoning map into each other.
import { expect, test } from 'bun:test'
import { type Conversation, efforts } from './conversation.ts'
import { budgetOf, effortOf, effortOfBudget, readEffort } from './effort.ts'
import { emptyConversation as plain } from './test-support.ts'

const withEffort = (changes: Partial<Conversation>): Conversation => ({ ...plain, ...changes })

test.each([...efforts])('the budget of %s is of the same effort again', (effort) => {
  const budget = budgetOf(withEffort({ effort }))!
  expect(effortOfBudget(budget)).toBe(effort)
  expect(effortOf(withEffort({ reasoningBudget: budget }))).toBe(effort)
})

test('a caller who says nothing gets nothing', () => {
  expect([effortOf(plain), budgetOf(plain)]).toEqual([undefined, undefined])
})

test.each<[unknown, unknown]>([
  ['high', { effort: 'high', changed: false }],
  ['HIGH', { effort: 'high', changed: false }],
  ['ultra', { effort: 'max', changed: true }],
  ['constructor', { effort: 'high', changed: true }],
  [9_000, { effort: 'medium', changed: true }],
  [undefined, undefined],
  [{}, undefined],
])('%p is read as %j', (given, effort) => {
  expect(readEffort(given)).toEqual(effort as never)
})
