import { expect, test } from 'bun:test'
import { countCharges, formatCharges, sumCharges } from '../lib/charges.ts'
import { formatVerdicts } from '../lib/report.ts'
import { parseOptions, parts } from '../options.ts'
import { checkFigures, formatFigures, type Slice, summarise } from './report.ts'

function slice(target: string, cpuMicrosPerRequest: number, more: Partial<Slice> = {}): Slice {
  return {
    target,
    style: 'chat',
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

test('every style is compared with nginx of its own and with chat of the same kind', () => {
  const style = 'messages'
  const figures = summarise([
    slice('nginx', 10),
    slice('gateway', 50),
    slice('gateway', 1000, { mode: 'stream' }),
    slice('nginx', 20, { style }),
    slice('gateway', 60, { style }),
  ])
  expect(figures.find((row) => row.target === 'gateway' && row.style === style)).toMatchObject({
    cpuRatio: 3,
    chatRatio: 1.2,
  })
})

test('a limit is met up to itself and missed beyond it', () => {
  const verdict = (cpu: number, rssBytes: number) =>
    checkFigures(summarise([slice('nginx', 10), slice('gateway', cpu, { rssBytes })]), 64).map(
      ({ met }) => met,
    )
  expect(verdict(60, 119_000_000)).toEqual([true, true])
  expect(verdict(61, 120_000_000)).toEqual([false, false])
})

test('a style other than chat may cost little more than chat', () => {
  const verdict = (cpu: number) =>
    checkFigures(
      summarise([slice('gateway', 10), slice('gateway', cpu, { style: 'responses' })]),
      64,
    )[1]
  expect(verdict(13)).toMatchObject({ label: 'JSON CPU, responses', met: true })
  expect(verdict(13.1)).toMatchObject({ limit: '<= 1.3x chat', value: '1.31x chat', met: false })
})

test('without nginx or chat beside it no CPU limit is met', () => {
  expect(checkFigures(summarise([slice('gateway', 1)]), 64)[0]).toMatchObject({ met: false })
  const alone = summarise([slice('gateway', 1, { style: 'embeddings' })])
  expect(checkFigures(alone, 64)[0]).toMatchObject({ met: false })
})

test('table and verdicts name units, ratios and what was missed', () => {
  const figures = summarise([slice('nginx', 10), slice('gateway', 75)])
  expect(formatFigures(figures)).toMatch(/JSON +chat +gateway +75 +7\.50x +1\.00x +1,000 +1\.00x/)
  const verdicts = formatVerdicts(checkFigures(figures, 64))
  expect(verdicts).toMatch(/JSON CPU, chat +<= 6x nginx +7\.50x nginx +MISSED/)
  expect(verdicts).toMatch(/RSS at 64 connections +< 120 MB +50 MB +met/)
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

test('without options everything is measured', () => {
  expect(parseOptions([])).toMatchObject({
    kind: 'run',
    options: {
      connections: 64,
      seconds: 2,
      rounds: 7,
      modes: ['json', 'stream'],
      styles: ['chat', 'responses', 'messages', 'generate', 'embeddings'],
      pairs: ['messages>chat', 'responses>chat', 'chat>messages', 'chat>generate'],
      parts: [...parts],
    },
  })
  expect(parseOptions(['--help'])).toEqual({ kind: 'help' })
})

test('--only and --styles select, and chat always comes along', () => {
  expect(parseOptions(['--only', 'stream'])).toMatchObject({
    options: { modes: ['stream'], parts: [] },
  })
  expect(parseOptions(['--only', 'failover,json'])).toMatchObject({
    options: { modes: ['json'], parts: ['failover'] },
  })
  expect(parseOptions(['--styles', 'messages'])).toMatchObject({
    options: { styles: ['chat', 'messages'] },
  })
})

test('options have bounds and say which one was wrong', () => {
  for (const [flag, value] of [
    ['--seconds', '0'],
    ['--rounds', '21'],
    ['--connections', 'many'],
    ['--only', 'xml'],
    ['--only', ''],
    ['--styles', 'chat,images'],
    ['--pairs', 'chat>chat'],
  ] as const) {
    expect(parseOptions([flag, value])).toMatchObject({
      kind: 'wrong',
      message: expect.stringContaining(flag),
    })
  }
})
