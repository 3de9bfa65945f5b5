import { expect, test } from 'bun:test'
import { formatPerCore, formatScaling, type ScalingFigures } from './report.ts'

const row = (more: Partial<ScalingFigures>): ScalingFigures => ({
  gateways: 1,
  workers: 1,
  callsPerSecond: 2000,
  p50Ms: 10,
  p99Ms: 20,
  gatewayMicros: 500,
  postgresMicros: 100,
  othersMicros: 50,
  commitsPerSecond: 100,
  connections: 5,
  failed: 0,
  ...more,
})

test('every row is compared with the first', () => {
  const text = formatScaling([row({}), row({ gateways: 2, callsPerSecond: 3000 })])
  expect(text).toContain('1.50x')
  expect(text).toMatch(/ 20 /)
})

test('what a core can do follows from what a call costs', () => {
  const text = formatPerCore([row({ workers: 2 })])
  expect(text).toContain('1, 2 workers')
  expect(text).toContain('2,000')
  expect(text).toContain('10,000')
})
