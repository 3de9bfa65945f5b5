// Runs the tests, all of them or those of the files named, and ends with `N passed, M failed`. All of
// them run in a few lanes side by side, against a build of the gateway, which starts faster than its
// source; whatever lane is free takes the next job, long ones first.
// A test that cannot run here says so on stderr, at the start of a line:
//   left out: <what> (<how to turn it on>)
// and those lines are gathered in a frame at the end, so that a bare machine passes without
// pretending. Refuses to know what a test does.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const { TEST_CASE_LIMIT_MS, TEST_RUN_LIMIT_SECONDS, TEST_LANES, TEST_POSTGRES_URL } = process.env
const caseLimitMs = Number(TEST_CASE_LIMIT_MS ?? 30_000)
const runLimitMs = 1_000 * Number(TEST_RUN_LIMIT_SECONDS ?? 2_700)
const laneCount = Number(TEST_LANES ?? 3)
const filesPerJob = 10
const slowestShown = 15
const linesOfFailure = 30
const failureWidth = 240
const goodbyeMs = 5_000

/** These begin, in this order: by how long they take. What is short fills the gaps at the end. */
const long = [
  ...['cluster/simulate', 'tasks/task-storm', 'ssrf', 'cluster/outages', 'faults/tasks'],
  ...['tasks/kept-media', 'console', 'process/packages', 'tasks/idempotency', 'tasks/callbacks'],
  ...['money/tamper', 'money/crash', 'tasks/tasks', 'cluster/backup', 'cluster/many-gateways'],
]

interface Job {
  name: string
  files: readonly string[]
}

interface Outcome extends Job {
  code: number
  seconds: number
  /** Of its processes, as far as they were waited for. */
  cpuSeconds: number
  output: string
}

const work = mkdtempSync(join(tmpdir(), 'gateway-tests-'))
const running = new Set<ReturnType<typeof startJob>>()
let isLate = false

function startJob(files: readonly string[]) {
  return Bun.spawn(
    // --no-orphans: a gateway that a test started does not outlive the run.
    [
      ...[process.execPath, 'test', '--no-orphans', '--timeout', `${caseLimitMs}`],
      ...(isWhole ? ['--preload', join(root, 'test/support/built-thread.ts')] : []),
      ...files,
    ],
    {
      cwd: root,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      env: {
        ...process.env,
        BUN_CONFIG_MAX_HTTP_REQUESTS: process.env['BUN_CONFIG_MAX_HTTP_REQUESTS'] ?? '20000',
        ...(isWhole && { MODEL_GATEWAY_DIST: join(work, 'dist') }),
      },
    },
  )
}

/** `live`: its output is shown as it comes. */
async function run(job: Job, live = false): Promise<Outcome> {
  const startMs = performance.now()
  const child = startJob(job.files)
  running.add(child)
  const chunks: Uint8Array[] = []
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      chunks.push(chunk)
      if (live) process.stdout.write(chunk)
    }
  }
  // Something that a test left behind may hold its output open.
  const collected = Promise.all([child.stdout, child.stderr].map(collect))
  const code = await child.exited
  await Promise.race([collected, Bun.sleep(goodbyeMs)])
  running.delete(child)
  const output = Buffer.concat(chunks).toString()
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1e6
  return { ...job, code, output, cpuSeconds, seconds: (performance.now() - startMs) / 1000 }
}

function jobsOf(files: readonly string[]): Job[] {
  const rankOf = (file: string) => long.findIndex((name) => file.startsWith(`test/${name}`))
  const ranked = files.filter((file) => rankOf(file) >= 0)
  const own = ranked.toSorted((one, other) => rankOf(one) - rankOf(other))
  const rest = files.filter((file) => rankOf(file) < 0)
  const whole = rest.filter((file) => file.startsWith('test/'))
  const small = rest.filter((file) => !file.startsWith('test/'))
  const parts: Job[] = []
  for (let at = 0; at < small.length; at += filesPerJob) {
    const files = small.slice(at, at + filesPerJob)
    parts.push({ name: `${files[0]} and ${files.length - 1} more`, files })
  }
  const alone = (file: string): Job => ({ name: file, files: [file] })
  return [...own.map(alone), ...parts, ...whole.map(alone)]
}

async function runAll(jobs: readonly Job[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  const lane = async () => {
    while (next < jobs.length && !isLate) {
      const outcome = await run(jobs[next++]!)
      outcomes.push(outcome)
      process.stdout.write(outcome.output)
      const { name, code, seconds } = outcome
      const verdict = code === 0 ? 'done' : `FAILED (${code})`
      print(
        `--- ${verdict} in ${seconds.toFixed(1)} s: ${name}  [${outcomes.length}/${jobs.length}]`,
      )
    }
  }
  await Promise.all(Array.from({ length: laneCount }, lane))
  return outcomes
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const countOf = (outcomes: readonly Outcome[], what: 'pass' | 'fail'): number =>
  outcomes
    .flatMap(({ output }) => [...output.matchAll(new RegExp(`^ *(\\d+) ${what}$`, 'gm'))])
    .reduce((sum, [, count]) => sum + Number(count), 0)

function leftOut(outcomes: readonly Outcome[]): string[] {
  const told = outcomes.flatMap(({ output }) =>
    [...output.matchAll(/^left out: *(.+)$/gm)].map(([, what]) => what!),
  )
  if (isWhole && !TEST_POSTGRES_URL && !told.some((line) => line.includes('TEST_POSTGRES_URL'))) {
    told.push('PostgreSQL cases (set TEST_POSTGRES_URL; scripts/services starts one)')
  }
  return [...new Set(told)].sort()
}

/** The failed cases of a job, each after the last lines it printed: whoever reads the end of a long
 * log needs no more of it. */
function whyFailed(output: string): string[] {
  const lines = output.split('\n')
  return lines.flatMap((line, at) => {
    if (!line.startsWith('(fail) ')) return []
    const before = lines.slice(Math.max(0, at - linesOfFailure), at)
    const passed = before.findLastIndex((each) => /^\((pass|fail)\) /.test(each))
    return [...before.slice(passed + 1), line].map((each) => each.slice(0, failureWidth))
  })
}

function reportJobs(outcomes: readonly Outcome[]): void {
  const slowest = outcomes.toSorted((one, other) => other.seconds - one.seconds)
  const cpuSeconds = outcomes.reduce((sum, outcome) => sum + outcome.cpuSeconds, 0)
  print(`\nlongest, with their CPU time; ${cpuSeconds.toFixed(0)} s of it in all:`)
  for (const { name, seconds, cpuSeconds } of slowest.slice(0, slowestShown)) {
    const columns = [seconds, cpuSeconds].map((each) => each.toFixed(1).padStart(8))
    print(`${columns.join('')} s  ${name}`)
  }
  for (const { name, output } of outcomes.filter(({ code }) => code !== 0)) {
    print(`\nfailed: ${name}`)
    for (const line of whyFailed(output)) print(`  ${line}`)
  }
}

function report(outcomes: readonly Outcome[], jobs: readonly Job[]): number {
  const failed = outcomes.filter(({ code }) => code !== 0)
  if (isWhole) reportJobs(outcomes)
  if (isLate) print(`the run was stopped after ${runLimitMs / 1000} s`)
  const left = leftOut(outcomes)
  if (left.length > 0) {
    const bar = '='.repeat(70)
    print(`\n${bar}\n  LEFT OUT of this run\n`)
    for (const line of left) print(`  - ${line}`)
    print(bar)
  }
  // A run that broke off, or an error outside any case, has no failed case to count.
  const broken = jobs.length - outcomes.length
  const counted = countOf(outcomes, 'fail')
  const failures = Math.max(counted, failed.length) + broken
  print(`\n${countOf(outcomes, 'pass')} passed, ${failures} failed`)
  return failures === 0 ? 0 : 1
}

async function allFiles(): Promise<string[]> {
  const folders = ['src', 'sandbox', 'bench', 'scripts', 'test', 'console']
  const glob = new Bun.Glob(`{${folders.join(',')}}/**/*.test.{ts,tsx}`)
  return (await Array.fromAsync(glob.scan({ cwd: root }))).sort()
}

async function main(): Promise<number> {
  if (!isWhole) {
    const job = { name: 'the files named', files: named }
    return report([await run(job, true)], [job])
  }
  const build = Bun.spawn([process.execPath, 'scripts/build.ts', join(work, 'dist')], {
    cwd: root,
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if ((await build.exited) !== 0) throw new Error('the gateway cannot be built')
  const jobs = jobsOf(await allFiles())
  const watchdog = setTimeout(() => {
    isLate = true
    for (const child of running) child.kill()
    setTimeout(() => {
      for (const child of running) child.kill('SIGKILL')
    }, goodbyeMs).unref()
  }, runLimitMs)
  const outcomes = await runAll(jobs)
  clearTimeout(watchdog)
  return report(outcomes, jobs)
}

const named = process.argv.slice(2)
const isWhole = named.length === 0
process.on('exit', () => rmSync(work, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    for (const child of running) child.kill()
    process.exit(1)
  })
}
process.exit(await main())
