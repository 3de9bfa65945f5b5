import { expect, test } from 'bun:test'
import { draftOf, minutesOf, ruleBody } from './rules.ts'

test('the time of a rule is told in minutes, whatever its unit', () => {
  const minutes = ['7s', '90s', '5m', '2h'].map((over) => minutesOf({ over }))
  expect(minutes).toEqual([0.12, 1.5, 5, 120])
})

test('a rule that is edited and not changed is sent as long as it was', () => {
  const sent = ['7s', '59s', '61s', '5m', '2h'].map((over) => {
    return ruleBody(draftOf({ model: 'txta-plus', above: 0.2, over, min: 4 })).over
  })
  expect(sent).toEqual(['7s', '59s', '61s', '300s', '7200s'])
})
