import { expect, test } from 'bun:test'
import type { Outcome } from './jobs.ts'
import { report } from './report.ts'

const outcome = (changes: Partial<Outcome>): Outcome => ({
  ...{ name: 'a.test.ts', files: ['a.test.ts'], code: 0, seconds: 1, cpuSeconds: 1 },
  ...{ output: ' 2 pass\n 0 fail\n', leftBehind: [], ...changes },
})

const reportOf = (outcomes: Outcome[], more: object = {}) =>
  report({
    ...{ jobs: outcomes, outcomes, unsteady: [], isWhole: true, hasPostgres: true },
    ...{ problems: [], seed: 7, seconds: 90, ...more },
  })

test('a run that is well ends with its count', () => {
  const { text, failures } = reportOf([outcome({}), outcome({})])
  expect(text).toEndWith('\n4 passed, 0 failed')
  expect(text).not.toContain('LEFT OUT')
  expect(failures).toBe(0)
})

test('the time of the run and its slowest files are told, also of files that share a process', () => {
  const output = [
    'src/b.test.ts:\n(pass) one [2500.00ms]\n(fail) two [500.00ms]',
    'src/c.test.tsx:\n(pass) three',
    ' 2 pass\n 0 fail\n',
  ].join('\n\n')
  const shared = outcome({ files: ['src/b.test.ts', 'src/c.test.tsx'], output, cpuSeconds: 4 })
  const { text } = reportOf([outcome({ seconds: 2, cpuSeconds: 1.5 }), shared])
  expect(text).toContain('the run took 90 s, and 6 s of processor time; the slowest files:')
  const rows = text.split('\n').filter((line) => line.includes('.test.ts'))
  expect(rows.map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['3.0 s', 'src/b.test.ts'],
    ['2.0 s', '1.5 s', 'a.test.ts'],
    ['0.0 s', 'src/c.test.tsx'],
  ])
})

test('a job that broke off, a job that never ran and a process left behind are failures', () => {
  const broken = outcome({ code: 1, output: '' })
  const left = outcome({ leftBehind: [{ pid: 7, command: 'sleep 600' }] })
  const { text, failures } = reportOf([broken, left], { jobs: [broken, left, left] })
  expect(text).toContain('failed: left a process behind: a.test.ts: 7 sleep 600')
  expect(text).toEndWith('\n2 passed, 3 failed')
  expect(failures).toBe(3)
})

test('failed cases are shown again with their last lines', () => {
  const output = '(pass) one\nerror: wrong\n(fail) two\n 1 pass\n 1 fail\n'
  const { text } = reportOf([outcome({ code: 1, output })])
  expect(text).toContain('failed: a.test.ts\n  error: wrong\n  (fail) two')
})

test('a job that passed the second time is told of in capitals, and does not fail the run', () => {
  const first = outcome({ code: 1, output: 'error: late\n(fail) two\n 1 pass\n 1 fail\n' })
  const { text, failures } = reportOf([outcome({})], { unsteady: [first] })
  expect(text).toContain('1 UNSTEADY: FAILED AT FIRST, PASSED ALONE (TEST_SEED=7)')
  expect(text).toContain('UNSTEADY: a.test.ts\n    error: late\n    (fail) two')
  expect(text).toEndWith('\n2 passed, 0 failed')
  expect(failures).toBe(0)
})

test('everything left out is listed once', () => {
  const output = 'left out: pages (install a browser)\n'
  const { text } = reportOf([outcome({ output }), outcome({ output })], { hasPostgres: false })
  expect(text.match(/pages \(install a browser\)/g)).toHaveLength(1)
  expect(text).toContain('on PostgreSQL (scripts/services install)')
})
