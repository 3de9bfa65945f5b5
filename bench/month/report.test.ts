import { expect, test } from 'bun:test'
import { checkMonth, formatMonth } from './report.ts'

const step = (name: string, done: number, cpuSeconds: number) => ({
  ...{ name, done, cpuSeconds, seconds: 2 * cpuSeconds },
})

test('steps are shown with their bills and their CPU', () => {
  const [, , line] = formatMonth([step('render', 200, 1.5)]).split('\n')
  expect(line!.trim().split(/\s{2,}/)).toEqual(['render', '200', '1.50', '3'])
})

test('a month must be cheap and whole', () => {
  const whole = [step('close', 2, 30), step('send', 2, 30)]
  expect(checkMonth(whole, 2, 2)[0]!.met).toBe(true)
  expect(checkMonth([...whole, step('render', 2, 1)], 2, 2)[0]!.met).toBe(false)
  expect(checkMonth(whole, 1, 2)[0]!.met).toBe(false)
  expect(checkMonth([step('close', 1, 1)], 2, 2)[0]!.met).toBe(false)
})
