import { expect, test } from 'bun:test'
import { checkGrowth, formatGrowth, type GrowthFigures } from './report.ts'

const smallestMicros = [100, 200, 100]
const row = (size: number, micros: readonly number[]): GrowthFigures => ({
  what: 'tokens',
  size,
  startSeconds: 0.5,
  micros,
  smallestMicros,
  rssBytes: 100_000_000,
  failed: 0,
})

test('a size is compared with the smallest round by round, and the smallest with nothing', () => {
  const rows = [row(100, smallestMicros), row(1_000_000, [105, 220, 130])]
  expect(checkGrowth(rows)).toEqual([
    {
      label: 'CPU of a call with 1,000,000 tokens',
      limit: '<= 1.1x smallest',
      value: '1.10x smallest',
      met: true,
    },
  ])
  expect(checkGrowth([row(1000, [120, 240, 120])])[0]).toMatchObject({ met: false })
  expect(formatGrowth(rows)).toMatch(/tokens +1,000,000 +130 +1\.10x +1\.05x 1\.30x +0\.50 +100/)
})
