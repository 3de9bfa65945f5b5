// The end of a test run in words: its time, the slowest files, why cases failed, what was left out, what was left
// behind, and the counts. Pure text from outcomes.
import type { Job, Outcome } from './jobs.ts'

const slowestShown = 10
const linesOfFailure = 30
const failureWidth = 240

interface Run {
  jobs: readonly Job[]
  outcomes: readonly Outcome[]
  /** First outcomes of jobs that failed and passed the second time. */
  unsteady: readonly Outcome[]
  isWhole: boolean
  hasPostgres: boolean
  /** Failures outside any test: a server that did not start, an entry left in the temp directory. */
  problems: readonly string[]
  seed: number
  /** From its first job to its last, by the clock on the wall. */
  seconds: number
}

const bar = '='.repeat(70)

const countOf = (outcomes: readonly Outcome[], what: 'pass' | 'fail'): number =>
  outcomes
    .flatMap(({ output }) => [...output.matchAll(new RegExp(`^ *(\\d+) ${what}$`, 'gm'))])
    .reduce((sum, [, count]) => sum + Number(count), 0)

function leftOut({ outcomes, isWhole, hasPostgres }: Run): string[] {
  const lines = outcomes.flatMap(({ output }) =>
    [...output.matchAll(/^left out: *(.+)$/gm)].map(([, what]) => what!),
  )
  if (isWhole && !hasPostgres) {
    lines.push('the store, the ledger and the engine on PostgreSQL (scripts/services install)')
  }
  return [...new Set(lines)].sort()
}

/** The failed cases of a job, each after the last lines it printed: the end of a long log is enough. */
function whyFailed(output: string): string[] {
  const lines = output.split('\n')
  return lines.flatMap((line, at) => {
    if (!line.startsWith('(fail) ')) return []
    const before = lines.slice(Math.max(0, at - linesOfFailure), at)
    const passed = before.findLastIndex((each) => /^\((pass|fail)\) /.test(each))
    return [...before.slice(passed + 1), line].map((each) => each.slice(0, failureWidth))
  })
}

interface FileTime {
  name: string
  seconds: number
  /** Known of files that have a process to themselves. */
  cpuSeconds?: number
}

/** The times of the files of a job; where they share a process, the sum of their cases. */
function timesOf({ name, files, seconds, cpuSeconds, output }: Outcome): FileTime[] {
  if (files.length === 1) return [{ name, seconds, cpuSeconds }]
  const parts = output.split(/^(\S+\.test\.tsx?):$/m).slice(1)
  return parts.flatMap((file, at) => {
    if (at % 2 === 1) return []
    const cases = (parts[at + 1] ?? '').matchAll(/^\((?:pass|fail)\) .*\[([\d.]+)ms\]$/gm)
    return [{ name: file, seconds: cases.reduce((sum, [, ms]) => sum + Number(ms), 0) / 1000 }]
  })
}

function describeJobs({ outcomes, seconds }: Run): string[] {
  const slowest = outcomes.flatMap(timesOf).toSorted((one, other) => other.seconds - one.seconds)
  const allCpuSeconds = outcomes.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const inAll = `${seconds.toFixed(0)} s, and ${allCpuSeconds.toFixed(0)} s of processor time`
  const lines = [`\nthe run took ${inAll}; the slowest files:`, '      took       CPU']
  for (const { name, seconds, cpuSeconds } of slowest.slice(0, slowestShown)) {
    const columns = [seconds, cpuSeconds].map((each) =>
      (each === undefined ? '' : `${each.toFixed(1)} s`).padStart(10),
    )
    lines.push(`${columns.join('')}  ${name}`)
  }
  for (const { name, output } of outcomes.filter(({ code }) => code !== 0)) {
    lines.push(`\nfailed: ${name}`, ...whyFailed(output).map((line) => `  ${line}`))
  }
  return lines
}

function describeLeftOut(run: Run): string[] {
  const left = leftOut(run)
  if (left.length === 0) return []
  return [`\n${bar}\n  LEFT OUT of this run\n`, ...left.map((line) => `  - ${line}`), bar]
}

const leftBy = ({ name, leftBehind }: Outcome): string[] =>
  leftBehind.map(({ pid, command }) => `left a process behind: ${name}: ${pid} ${command}`)

/** They do not fail the run, so they have to be seen. */
function describeUnsteady({ unsteady, seed }: Run): string[] {
  if (unsteady.length === 0) return []
  const jobs = unsteady.flatMap((outcome) => [
    `\n  UNSTEADY: ${outcome.name}`,
    ...[...whyFailed(outcome.output), ...leftBy(outcome)].map((line) => `    ${line}`),
  ])
  const title = `  ${unsteady.length} UNSTEADY: FAILED AT FIRST, PASSED ALONE (TEST_SEED=${seed}). MEND THE TEST.`
  return [`\n${bar}\n${title}`, ...jobs, bar]
}

export function report(run: Run): { text: string; failures: number } {
  const { jobs, outcomes } = run
  const left = outcomes.flatMap(leftBy)
  const problems = [...run.problems, ...left].map((line) => line.slice(0, failureWidth))
  const failed = outcomes.filter(({ code }) => code !== 0)
  // A run that broke off, or an error outside any case, has no failed case to count.
  const broken = jobs.length - outcomes.length
  const failures = Math.max(countOf(outcomes, 'fail'), failed.length) + broken + problems.length
  const lines = [
    ...(run.isWhole ? describeJobs(run) : []),
    ...describeLeftOut(run),
    ...describeUnsteady(run),
    ...problems.map((line) => `\nfailed: ${line}`),
    ...(failures > 0 ? [`\nthe same once more: TEST_SEED=${run.seed}`] : []),
    `\n${countOf(outcomes, 'pass')} passed, ${failures} failed`,
  ]
  return { text: lines.join('\n'), failures }
}
