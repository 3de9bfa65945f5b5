// Runs the tests, all of them or those of the files named, and ends with `N passed, M failed`. A whole
// run uses a build of the gateway, starts PostgreSQL and Redis when they are installed, works in a few
// lanes, long jobs first, and gives jobs that failed a second chance, alone; what then passes is reported as
// UNSTEADY. The seed of what is random is fixed (TEST_SEED). A run leaves no file and no process behind.
// A test that cannot run here prints `left out: <what> (<how to turn it on>)` to stderr.
import { constants, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { testSeed } from '../test/support/seeded.ts'
import {
  type Job,
  type JobSettings,
  jobsOf,
  makeEmptyDatabase,
  type Outcome,
  root,
  runJob,
  runningFiles,
  startBuild,
  stopJobs,
} from './testing/jobs.ts'
import { type Lanes, runAgain, runLanes, watchIdle } from './testing/lanes.ts'
import { endProcessesOf, ownEntriesIn, watchNeighbours } from './testing/leftovers.ts'
import { report } from './testing/report.ts'
import { missingServices, noServices, startServices } from './testing/services.ts'
import { makeWorkFolder, removeAbandoned, removeFolder } from './testing/work-folder.ts'

const { TEST_CASE_LIMIT_MS, TEST_RUN_LIMIT_SECONDS, TEST_LANES } = process.env
const caseLimitMs = Number(TEST_CASE_LIMIT_MS ?? 300_000)
const runLimitMs = 1_000 * Number(TEST_RUN_LIMIT_SECONDS ?? 2_700)
/** More would only wait for a core, and make what waits for them fail. */
const laneCount = Number(TEST_LANES ?? cpus().length + 1)
const spareLanes = 2
const seed = testSeed()

const named = process.argv.slice(2)
const isWhole = named.length === 0
const problems: string[] = []
let isOver = false
let services = noServices

const print = (line: string) => process.stdout.write(`${line}\n`)

/** Prints what came of a job, unless it was shown as it came. */
function show(outcome: Outcome, place: string): void {
  process.stdout.write(outcome.output)
  const { name, code, seconds, cpuSeconds } = outcome
  const verdict = code === 0 ? 'done' : `FAILED (${code})`
  const times = `${seconds.toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s)`
  print(`--- ${verdict} in ${times}: ${name}  [${place}]`)
}

async function runAll(jobs: readonly Job[], settings: JobSettings) {
  let count = 0
  const ended = () => isOver
  const runFirst = async (job: Job) => {
    const outcome = await runJob(job, settings)
    if (!settings.isLive) show(outcome, `${++count}/${jobs.length}`)
    return outcome
  }
  const runSecond = async (job: Job) => {
    const outcome = await runJob(job, settings)
    show(outcome, 'once more')
    return outcome
  }
  const lanes: Lanes = {
    ...{ busy: laneCount, spare: spareLanes, pollMs: 500 },
    ...{ isIdle: watchIdle(), isOver: ended, run: runFirst },
  }
  const outcomes = await runLanes(jobs, lanes)
  if (!isWhole) return { outcomes, unsteady: [] }
  return runAgain(outcomes, { run: runSecond, isOver: ended })
}

async function allFiles(): Promise<string[]> {
  const folders = ['src', 'sandbox', 'bench', 'simulation', 'scripts', 'test', 'console']
  const glob = new Bun.Glob(`{${folders.join(',')}}/**/*.test.{ts,tsx}`)
  return (await Array.fromAsync(glob.scan({ cwd: root }))).sort()
}

/** What a whole run needs before its first job: a build, and servers. */
async function prepare(work: string): Promise<JobSettings> {
  const preload = (name: string) => ['--preload', join(root, 'test/support', name)]
  const flags = ['--timeout', `${caseLimitMs}`, ...preload('fixed-seed.ts')]
  const env = { TEST_SEED: `${seed}` }
  if (!isWhole) return { work, env: { MODEL_GATEWAY_DIST: '', ...env }, flags, isLive: true }
  const building = startBuild(work)
  const emptied = makeEmptyDatabase(work)
  if (missingServices(process.env).length > 0) services = startServices(work)
  if (services.hasFailed) problems.push('PostgreSQL or Redis is installed and does not start')
  const built = await building
  if (built === undefined) {
    problems.push('the gateway cannot be built')
    isOver = true
  }
  const empty = await emptied
  if (empty === undefined) {
    problems.push('an empty database cannot be made')
    isOver = true
  }
  const { executable = '', folder = '' } = built ?? {}
  const ours = {
    MODEL_GATEWAY_DIST: executable,
    TEST_BUILD: folder,
    TEST_EMPTY_DATABASE: empty ?? '',
  }
  return {
    work,
    env: { ...env, ...services.env, ...ours },
    flags: [...flags, ...preload('built-thread.ts')],
    isLive: false,
  }
}

/** Removes everything, and makes a problem of what should not have been there. */
async function cleanUp(work: string, findAdded: () => string[]): Promise<void> {
  services.stop()
  for (const { pid, command } of await endProcessesOf(work)) {
    problems.push(`left a process behind: ${pid} ${command}`)
  }
  removeFolder(work)
  problems.push(...findAdded().map((path) => `left in the temp directory: ${path}`))
}

/** Tells what was added to the temp directory meanwhile, if it can only be the work of this run. */
function watchTempDirectory(work: string): () => string[] {
  const before = ownEntriesIn(tmpdir())
  const hadNeighbours = watchNeighbours(work)
  return () => {
    if (hadNeighbours()) return []
    return [...ownEntriesIn(tmpdir()).difference(before)].map((name) => join(tmpdir(), name))
  }
}

async function main(): Promise<number> {
  await removeAbandoned()
  const work = makeWorkFolder()
  const findAdded = watchTempDirectory(work)
  let signalCode: number | undefined
  const stopEarly = (problem: string) => {
    if (isOver) return
    const files = runningFiles()
    problems.push(files.length === 0 ? problem : `${problem} while these ran: ${files.join(', ')}`)
    isOver = true
    stopJobs()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      signalCode ??= 128 + constants.signals[signal]
      stopEarly(`stopped by ${signal}`)
    })
  }
  const limit = () => stopEarly(`the run was stopped after ${runLimitMs / 1000} s`)
  const watchdog = setTimeout(limit, runLimitMs)
  const jobs = isWhole ? jobsOf(await allFiles()) : [{ name: 'the files named', files: named }]
  print(`the seed of this run: TEST_SEED=${seed}`)
  const startMs = performance.now()
  const { outcomes, unsteady } = await runAll(jobs, await prepare(work))
  const seconds = (performance.now() - startMs) / 1000
  clearTimeout(watchdog)
  await cleanUp(work, findAdded)
  const hasPostgres = Boolean(services.env['TEST_POSTGRES_URL'] ?? process.env['TEST_POSTGRES_URL'])
  const run = { jobs, outcomes, unsteady, isWhole, hasPostgres, problems, seed, seconds }
  const { text, failures } = report(run)
  // A slow reader gets all of it: the end of the process would cut off what is not written yet.
  await new Promise((resolve) => process.stdout.write(`${text}\n`, resolve))
  return signalCode ?? (failures === 0 ? 0 : 1)
}

// A reader of the output that goes away must not keep the run from cleaning up.
process.stdout.on('error', () => {})
process.exit(await main())
