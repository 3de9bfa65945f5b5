import { expect, test } from 'bun:test'
import { logKeepMs, logsDeclaration } from './logs.ts'

const dayMs = 86_400_000

test('the log is kept for as many days as are said, and for 400 unless any are', () => {
  expect(logKeepMs(logsDeclaration.parse({ keep: '90d' }))).toBe(90 * dayMs)
  expect(logKeepMs(logsDeclaration.parse({}))).toBe(400 * dayMs)
  expect(logKeepMs(undefined)).toBe(400 * dayMs)
})

test.each(['6d', '3651d', '90', '12h', 'forever', 90])('refuses to keep it for %p', (keep) => {
  const { error } = logsDeclaration.safeParse({ keep })
  expect(error?.issues[0]?.message).toContain('number of days')
})
