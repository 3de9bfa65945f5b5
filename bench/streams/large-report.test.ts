import { expect, test } from 'bun:test'
import { checkLarge, formatLarge, type LargeFigures } from './large-report.ts'

const figures = (more: Partial<LargeFigures> = {}): LargeFigures => ({
  name: 'translated',
  streams: 1000,
  held: 1000,
  requestBytes: 500_000,
  baseBytes: 60_000_000,
  heldBytes: 160_000_000,
  peakBytes: 400_000_000,
  failed: 0,
  ...more,
})

test('the peak is checked, and what a stream holds is the rise over the base', () => {
  expect(checkLarge([figures()])).toMatchObject([{ value: '400 MB', met: true }])
  expect(checkLarge([figures({ peakBytes: 600_000_000 })])).toMatchObject([{ met: false }])
  expect(formatLarge([figures()])).toMatch(/translated +1000 of 1000 +500 +60 +160 +400 +100 +0/)
})

test('streams that were not all there have met no limit', () => {
  expect(checkLarge([figures({ held: 999 })])).toMatchObject([{ met: false }])
})
