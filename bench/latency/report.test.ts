import { expect, test } from 'bun:test'
import {
  checkLatency,
  formatLatency,
  type LatencyFigures,
  type Phase,
  recovered,
  shareOf,
} from './report.ts'

const phase = (calls: Record<string, number>, more: Partial<Phase> = {}): Phase => ({
  ...{ name: 'slow', seconds: 4, served: 100, failed: 0, calls, p50Ms: 20, p99Ms: 30, ...more },
})

const load: LatencyFigures = {
  routing: 'load',
  phases: [phase({ fast: 88, slow: 12 }), phase({ fast: 45, slow: 10, new: 45 }), phase({})],
  recoveredMs: 1000,
}
const latency: LatencyFigures = {
  routing: 'latency',
  phases: [
    phase({ fast: 98, slow: 2 }),
    phase({ fast: 49, slow: 2, new: 49 }, { name: 'new' }),
    phase({ fast: 33, slow: 34, new: 33 }, { name: 'recovered' }),
  ],
  recoveredMs: 6500,
}

const met = (changed: Partial<LatencyFigures>) =>
  checkLatency([load, { ...latency, ...changed }]).map((verdict) => verdict.met)

test('a share is of all calls, and a channel has recovered with half of an equal one', () => {
  expect(shareOf(latency.phases[0]!, 'slow')).toBeCloseTo(0.02)
  expect(shareOf(phase({}), 'slow')).toBe(0)
  expect(recovered(phase({ fast: 4, slow: 1, new: 1 }))).toBe(true)
  expect(recovered(phase({ fast: 5, slow: 1, new: 1 }))).toBe(false)
})

test('too many calls to the slow one, none at all, a starved new one and no recovery miss a limit', () => {
  expect(met({})).toEqual([true, true, true, true, true])
  const phases = (slow: Phase, fresh = latency.phases[1]!) => ({
    phases: [slow, fresh, latency.phases[2]!],
  })
  expect(met(phases(phase({ fast: 93, slow: 7 })))).toEqual([true, false, true, true, true])
  expect(met(phases(phase({ fast: 100 })))).toEqual([true, true, false, true, true])
  expect(met(phases(latency.phases[0]!, phase({ fast: 90, new: 10 })))[3]).toBe(false)
  const { recoveredMs: _, ...never } = latency
  expect(checkLatency([load, never])[4]!.met).toBe(false)
  expect(met(phases(phase({ fast: 98, slow: 2 }, { failed: 1 })))[0]).toBe(false)
})

test('the table has both kinds of routing, and when the channel was back', () => {
  const text = formatLatency([load, latency])
  expect(text).toMatch(/latency +new +25 +0 +49 % +2 % +49 %/)
  expect(text).toContain(
    'latency: the channel that was slow had its share 6.50 s after it was fast',
  )
})
