import { expect, test } from 'bun:test'
import { countCharges, formatCharges, sumCharges } from '../lib/charges.ts'
import { formatVerdicts } from '../lib/report.ts'
import { parseOptions, parts } from '../options.ts'
import { cases } from './cases.ts'
import { type CaseSlice, checkFigures, formatFigures, summarise } from './report.ts'

function slice(
  target: string,
  cpuMicrosPerRequest: number,
  more: Partial<CaseSlice> = {},
): CaseSlice {
  return {
    target,
    style: 'chat',
    mode: 'json',
    case: 'normal',
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

const verdictsOf = (slices: CaseSlice[], restBytes?: number) =>
  checkFigures(summarise(slices), { cases, connections: 64, restBytes })

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
    cpuRatio: { min: 40 / 90, median: 3, max: 5 },
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
    cpuRatio: { median: 3 },
    chatRatio: 1.2,
  })
})

test('a limit is met up to itself and missed beyond it', () => {
  const verdict = (cpu: number, rssBytes: number) =>
    verdictsOf([slice('nginx', 10), slice('gateway', cpu, { rssBytes })]).map(({ met }) => met)
  expect(verdict(40, 119_000_000)).toEqual([true, true])
  expect(verdict(41, 120_000_000)).toEqual([false, false])
})

test('a style other than chat may cost little more than chat', () => {
  const verdict = (cpu: number) =>
    verdictsOf([slice('gateway', 10), slice('gateway', cpu, { style: 'responses' })])[1]
  expect(verdict(12)).toMatchObject({ label: 'JSON CPU, responses', met: true })
  expect(verdict(12.1)).toMatchObject({ limit: '<= 1.2x chat', value: '1.21x chat', met: false })
})

test('without nginx or chat beside it no CPU limit is met', () => {
  expect(verdictsOf([slice('gateway', 1)])[0]).toMatchObject({ met: false })
  const alone = [slice('gateway', 1, { style: 'embeddings' })]
  expect(verdictsOf(alone)[0]).toMatchObject({ met: false })
})

test('a case is compared with nginx in the same case, and has a limit of its own', () => {
  const stream = (target: string, name: string, cpu: number) =>
    slice(target, cpu, { mode: 'stream', case: name })
  const verdicts = verdictsOf([
    stream('nginx', 'normal', 100),
    stream('nginx', 'unmapped', 200),
    stream('nginx', 'tls', 1),
    stream('gateway', 'normal', 290),
    stream('gateway', 'unmapped', 230),
    stream('gateway', 'tls', 1000),
  ])
  expect(verdicts.map(({ label, value, met }) => [label, value, met])).toEqual([
    ['stream CPU, chat, normal', '2.90x nginx (2.90x to 2.90x)', true],
    ['stream CPU, chat, unmapped', '1.15x nginx (1.15x to 1.15x)', true],
    ['restoring the name in 100 events, ten events per write', '60 us', false],
    ['RSS at 64 connections', '50 MB', true],
  ])
})

test('memory after the load has a limit, too; a run of special cases has none', () => {
  expect(verdictsOf([slice('gateway', 1)], 99_000_000).at(-1)).toMatchObject({ met: true })
  expect(verdictsOf([slice('gateway', 1)], 100_000_000).at(-1)).toMatchObject({ met: false })
  expect(verdictsOf([slice('gateway', 1, { case: '2mb', rssBytes: 1e9 })])).toEqual([])
})

test('table and verdicts name units, ratios and what was missed', () => {
  const figures = summarise([slice('nginx', 10), slice('gateway', 75)])
  expect(formatFigures(figures)).toMatch(
    /JSON +chat +normal +gateway +75 +7\.50x +7\.50x 7\.50x +1\.00x +1,000/,
  )
  const verdicts = formatVerdicts(checkFigures(figures, { cases, connections: 64 }))
  expect(verdicts).toMatch(/JSON CPU, chat, normal +<= 4x nginx +7\.50x nginx \(.*\) +MISSED/)
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
      rounds: 5,
      modes: ['json', 'stream'],
      styles: ['chat', 'responses', 'messages', 'generate', 'embeddings'],
      cases: ['normal', 'unmapped', 'single', 'unmapped-single'],
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

test('peers are measured alone, or with the parts that are named', () => {
  expect(parseOptions(['--peers'])).toMatchObject({ options: { modes: [], parts: ['peers'] } })
  expect(parseOptions(['--peers', '--only', 'json'])).toMatchObject({
    options: { modes: ['json'], parts: ['peers'] },
  })
})

test('--cases and the sizes of the growth figures select', () => {
  const all = parseOptions(['--cases', 'all'])
  expect(all).toMatchObject({ options: { cases: cases.map(({ name }) => name) } })
  const few = ['--cases', 'tls,normal', '--growth-rows', 'none', '--growth-tokens', '10,20']
  expect(parseOptions(few)).toMatchObject({
    options: { cases: ['tls', 'normal'], growth: { rows: [], tokens: [10, 20] } },
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
    ['--cases', 'tls,other'],
    ['--growth-models', '10,0'],
  ] as const) {
    expect(parseOptions([flag, value])).toMatchObject({
      kind: 'wrong',
      message: expect.stringContaining(flag),
    })
  }
})
