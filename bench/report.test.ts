import { expect, test } from 'bun:test'
import { countCharges, formatCharges, sumCharges } from './charges.ts'
import { parseOptions } from './options.ts'
import { formatFigures, formatVerdicts, judge, type Slice, summarise } from './report.ts'

function slice(target: string, cpuMicrosPerRequest: number, more: Partial<Slice> = {}): Slice {
  return {
    target,
    mode: 'json',
    served: 100,
    failed: 0,
    cpuMicrosPerRequest,
    requestsPerSecond: 1000,
    p50Ms: 1,
    p99Ms: 2,
    rssBytes: 50_000_000,
    peakBytes: 60_000_000,
    ...more,
  }
}

test('figures are medians over rounds, and ratios are to nginx of the same kind of call', () => {
  const figures = summarise([
    slice('nginx', 10),
    slice('gateway', 50, { failed: 1 }),
    slice('nginx', 90),
    slice('gateway', 40, { rssBytes: 70_000_000 }),
    slice('nginx', 20),
    slice('gateway', 60),
    slice('nginx', 1, { mode: 'stream' }),
  ])
  expect(figures.map((row) => `${row.mode} ${row.target}`)).toEqual([
    'json nginx',
    'json gateway',
    'stream nginx',
  ])
  expect(figures[1]).toMatchObject({
    cpuMicrosPerRequest: 50,
    cpuRatio: 3,
    served: 300,
    failed: 1,
    rssBytes: 70_000_000,
  })
})

test('a limit is met up to itself and missed beyond it', () => {
  const verdict = (cpu: number, rssBytes: number) =>
    judge(summarise([slice('nginx', 10), slice('gateway', cpu, { rssBytes })]), 64).map(
      ({ met }) => met,
    )
  expect(verdict(60, 119_000_000)).toEqual([true, true])
  expect(verdict(61, 120_000_000)).toEqual([false, false])
})

test('without nginx beside it no CPU limit is met', () => {
  expect(judge(summarise([slice('gateway', 1)]), 64)[0]).toMatchObject({ met: false })
})

test('table and verdicts name units, ratios and what was missed', () => {
  const figures = summarise([slice('nginx', 10), slice('gateway', 75)])
  expect(formatFigures(figures)).toMatch(/JSON +gateway +75\.0 +7\.50x +1,000 +1\.00x/)
  expect(formatVerdicts(judge(figures, 64))).toMatch(/JSON CPU +<= 6x nginx +7\.50x +MISSED/)
})

test('charges are counted from the fall of the balance', () => {
  const charges = countCharges({ nanos: 1_000_000n }, { nanos: 448_000n }, 'json', 3)
  expect(charges).toEqual({ served: 3, charged: 3 })
  expect(formatCharges(charges)).toBe('charges: 3 of 3 requests')
  expect(formatCharges({ served: 4, charged: 3 })).toContain('MISMATCH')
})

test('a balance that is unknown or does not divide verifies nothing', () => {
  const odd = countCharges({ nanos: 1000n }, { nanos: 0n }, 'json', 1)
  expect(odd.charged).toBeUndefined()
  const closed = countCharges({ nanos: 1n }, { unknown: 'no answer' }, 'json', 5)
  expect(formatCharges(sumCharges([{ served: 2, charged: 2 }, closed]))).toBe(
    'charges: not verified for 7 requests (no answer)',
  )
})

test('options have bounds and say which one was wrong', () => {
  expect(parseOptions([])).toMatchObject({
    kind: 'run',
    options: { connections: 64, seconds: 2, rounds: 7, modes: ['json', 'stream'] },
  })
  expect(parseOptions(['--only', 'stream'])).toMatchObject({ options: { modes: ['stream'] } })
  for (const [flag, value] of [
    ['--seconds', '0'],
    ['--rounds', '21'],
    ['--connections', 'many'],
    ['--only', 'xml'],
  ] as const) {
    expect(parseOptions([flag, value])).toMatchObject({
      kind: 'wrong',
      message: expect.stringContaining(flag),
    })
  }
  expect(parseOptions(['--help'])).toEqual({ kind: 'help' })
})
