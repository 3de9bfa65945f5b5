// One job of a test run: some test files in one process, with a temp directory of its own that is removed
// afterwards together with every process that the tests left behind.
import { join, resolve } from 'node:path'
import { endProcessesOf, type FoundProcess } from './leftovers.ts'
import { makeJobFolder, removeFolder } from './work-folder.ts'

export const root = resolve(import.meta.dir, '../..')

export interface Job {
  name: string
  files: readonly string[]
  /** Mostly for a clock or a server: it does not need a core of its own. */
  isWaiting?: boolean
}

export interface Outcome extends Job {
  code: number
  seconds: number
  /** Of its processes, as far as they were waited for. */
  cpuSeconds: number
  output: string
  /** Processes that outlived the job and were killed. */
  leftBehind: FoundProcess[]
}

export interface JobSettings {
  work: string
  env: Readonly<Record<string, string>>
  /** Flags of `bun test`. */
  flags: readonly string[]
  /** Show the output as it comes. */
  isLive: boolean
}

const goodbyeMs = 5_000
const running = new Set<Bun.Subprocess>()
/** What each running job has printed. */
const printed = new Map<Job, Uint8Array[]>()
let started = 0

/** Test files in the order in which a job came to them: it prints their names. */
const fileLine = /^(\S+\.test\.tsx?):$/gm

/** Files that run now: of a job with several, the last it came to. */
export const runningFiles = (): string[] =>
  [...printed].map(([{ name }, chunks]) => {
    const names = [...Buffer.concat(chunks).toString().matchAll(fileLine)]
    return names.at(-1)?.[1] ?? name
  })

/** What the last compiler and a second collector gain in tests is less than they cost: up to a third. */
const modestRuntime = { BUN_JSC_useFTLJIT: '0', BUN_JSC_numberOfGCMarkers: '1' }

function startJob(files: readonly string[], folder: string, { env, flags }: JobSettings) {
  // --no-orphans: a gateway that a test started does not outlive the run.
  return Bun.spawn([process.execPath, 'test', '--no-orphans', ...flags, ...files], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...process.env,
      ...modestRuntime,
      BUN_CONFIG_MAX_HTTP_REQUESTS: process.env['BUN_CONFIG_MAX_HTTP_REQUESTS'] ?? '20000',
      ...env,
      TMPDIR: folder,
    },
  })
}

/** What a whole run tests: the program in one piece, which starts soonest, and the one of several files. */
interface Build {
  executable: string
  folder: string
}

/** Gives undefined when it cannot be built. */
export async function startBuild(work: string): Promise<Build | undefined> {
  const [folder, alone] = [join(work, 'dist'), join(work, 'alone')]
  const codes = await Promise.all([build(folder), build(alone, '--alone')])
  if (codes.some((code) => code !== 0)) return undefined
  return { folder, executable: join(alone, 'model-gateway') }
}

/** A database with its tables and nothing else, to be copied; undefined: it cannot be made. */
export async function makeEmptyDatabase(work: string): Promise<string | undefined> {
  const dir = join(work, 'empty')
  const code = await runProgram('test/support/empty-database.ts', dir)
  return code === 0 ? join(dir, 'gateway.db') : undefined
}

const build = (...args: string[]): Promise<number> => runProgram('scripts/build.ts', ...args)

async function runProgram(...args: string[]): Promise<number> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    stdout: 'inherit',
    stderr: 'inherit',
  })
  running.add(child)
  const code = await child.exited
  running.delete(child)
  return code
}

export async function runJob(job: Job, settings: JobSettings): Promise<Outcome> {
  const startMs = performance.now()
  const folder = makeJobFolder(settings.work, ++started)
  const child = startJob(job.files, folder, settings)
  running.add(child)
  const chunks: Uint8Array[] = []
  printed.set(job, chunks)
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      chunks.push(chunk)
      if (settings.isLive) process.stdout.write(chunk)
    }
  }
  // A process that a test left behind may hold the output open.
  const collected = Promise.all([child.stdout, child.stderr].map(collect))
  const code = await child.exited
  running.delete(child)
  printed.delete(job)
  const leftBehind = await endProcessesOf(folder)
  await Promise.race([collected, Bun.sleep(goodbyeMs)])
  removeFolder(folder)
  const output = Buffer.concat(chunks).toString()
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1e6
  const seconds = (performance.now() - startMs) / 1000
  return { ...job, code, output, cpuSeconds, seconds, leftBehind }
}

/** Asks the build and the running jobs to end, and kills those that do not. */
export async function stopJobs(): Promise<void> {
  const ended = Promise.all([...running].map((child) => child.exited))
  for (const child of running) child.kill()
  await Promise.race([ended, Bun.sleep(goodbyeMs)])
  for (const child of running) child.kill('SIGKILL')
}

/** These begin, in this order: by how long they take. Short ones fill the gaps at the end. */
const long = [
  ...['cluster/simulate', 'tasks/task-storm', 'api/fuzz', 'money/crash', 'cluster/outages'],
  ...[
    'api/openapi-client-go',
    'faults/tasks',
    'process/packages',
    'tasks/idempotency',
    'tasks/kept-media',
    'ssrf',
  ],
  ...['console', 'tasks/callbacks', 'money/tamper', 'tasks/tasks', 'cluster/backup'],
  ...['cluster/many-gateways'],
].map((name) => join('test', name))
/** These take less than half a core each. */
const waiting = [
  ...['attack/outages', 'attack/clocks', 'cluster/outages', 'tasks/kept-media', 'notices/'],
].map((name) => join('test', name))
const filesPerJob = 10

export function jobsOf(files: readonly string[]): Job[] {
  const rankOf = (file: string) => long.findIndex((name) => file.startsWith(name))
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
  const isWaiting = (file: string) => waiting.some((name) => file.startsWith(name))
  const alone = (file: string): Job => ({ name: file, files: [file], isWaiting: isWaiting(file) })
  return [...own.map(alone), ...parts, ...whole.map(alone)]
}
