import { expect, test } from 'bun:test'
import { checkPairs, formatPairs, type PairSlice, summarisePairs } from './report.ts'

const slice = (pair: string, cpuMicrosPerRequest: number, target = 'gateway'): PairSlice => ({
  target,
  pair,
  style: 'messages',
  mode: 'stream',
  served: 10,
  failed: 0,
  cpuMicrosPerRequest,
  requestsPerSecond: 100,
  p50Ms: 1,
  p99Ms: 2,
  rssBytes: 50_000_000,
  peakBytes: 60_000_000,
})

test('a translated call is compared with the caller’s own style, round by round, with the spread', () => {
  const figures = summarisePairs([
    slice('messages>messages', 50, 'nginx'),
    slice('messages>messages', 100),
    slice('messages>chat', 150),
    slice('messages>messages', 50, 'nginx'),
    slice('messages>messages', 200),
    slice('messages>chat', 500),
  ])
  expect(figures.at(-1)).toMatchObject({
    pair: 'messages>chat',
    served: 20,
    ownRatio: { lowest: 1.5, middle: 2, highest: 2.5 },
  })
  expect(formatPairs(figures)).toMatch(/messages>chat +gateway +\S+ +2\.00x +1\.50x 2\.50x/)
  expect(checkPairs(figures)).toMatchObject([{ label: 'stream CPU, messages>chat', met: true }])
})

test('a call without its own style beside it has not met its limit', () => {
  const figures = summarisePairs([slice('messages>chat', 1)])
  expect(checkPairs(figures)).toMatchObject([{ met: false }])
})
