// What the flags of a budget send, and which of them make no sense alone.
import { expect, test } from 'bun:test'
import { accountBudgetsIn, budgetIn } from './budget-flags.ts'
import { Line } from './line.ts'

const from = (values: Record<string, string>) => budgetIn(new Line(values, []))

test('a budget is sent whole, taken away by none, and left out where no flag is given', () => {
  expect(from({})).toEqual({})
  expect(from({ budget: 'none' })).toEqual({ budget: null })
  const day = { budget: '3', 'budget-per': 'day', 'budget-zone': 'Asia/Tokyo' }
  expect(from(day)).toEqual({ budget: { amount: '3', per: 'day', zone: 'Asia/Tokyo' } })
})

test('flags that make no sense are misused', () => {
  expect(() => from({ budget: '3' })).toThrow('--budget-per')
  expect(() => from({ 'budget-per': 'day' })).toThrow('--budget')
  expect(() => from({ budget: 'lots', 'budget-per': 'day' })).toThrow('--budget')
  expect(() => from({ budget: '3', 'budget-per': 'day', 'budget-zone': 'Mars' })).toThrow('Mars')
})

test('budgets of tags are a list, whatever colons their values have', () => {
  const tagged = (...texts: string[]) => accountBudgetsIn(new Line({ 'tag-budget': texts }, []))
  expect(tagged('team=a:b:5.00:day:Asia/Tokyo', 'job=7:1:total')).toEqual({
    tag_budgets: [
      { tag: 'team=a:b', amount: '5.00', per: 'day', zone: 'Asia/Tokyo' },
      { tag: 'job=7', amount: '1', per: 'total' },
    ],
  })
  expect(tagged('none')).toEqual({ tag_budgets: [] })
  expect(() => tagged('team=red')).toThrow('--tag-budget')
})
