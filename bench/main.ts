// The bench: starts the fake upstream, the targets and the load generator, gives every target its
// slices in turn, and prints what each request cost. Bounded in time; ends all that it started.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Charges, countCharges, formatCharges, readBalance, sumCharges } from './charges.ts'
import { type Child, startChild } from './children.ts'
import { help, type Options, parseOptions } from './options.ts'
import type { Mode } from './payload.ts'
import { hasProc } from './proc.ts'
import { formatFigures, formatVerdicts, judge, type Slice, summarise } from './report.ts'
import { measure, probe, type Work } from './slice.ts'
import {
  findNginx,
  nginxVersion,
  type Place,
  startGateway,
  startNginx,
  startPeer,
  type Target,
} from './targets.ts'

interface Run {
  options: Options
  nginx: string
  tempDir: string
  /** Everything that was started, to be ended. */
  children: Child[]
}

const root = join(import.meta.dir, '..')
const bun = join(root, 'scripts/bun')
/** Long enough for a just-in-time compiler to have done most of its work: the steady state counts. */
const warmUpSeconds = 5
/** Starting, warming up, draining and stopping, beyond the slices themselves. */
const spareSeconds = 25
const peerSpareSeconds = 120

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Ends the run whatever it waits for; the planned time is known before it starts. */
function hardStopSeconds({ modes, rounds, seconds, peers }: Options): number {
  const targets = peers ? 3 : 2
  const perTarget = rounds * seconds + warmUpSeconds
  return modes.length * perTarget * targets + spareSeconds + (peers ? peerSpareSeconds : 0)
}

async function startAll(run: Run): Promise<{ targets: Target[]; load: Child }> {
  const { options, tempDir, children } = run
  const own = (name: string, ...args: string[]) => {
    const command = [bun, join(import.meta.dir, `${name}.ts`), ...args]
    const child = startChild({ name, command, cwd: root, logFile: join(tempDir, `${name}.log`) })
    children.push(child)
    return child
  }
  const upstream = own('upstream', String(options.chunksPerWrite))
  const upstreamPort = Number(await upstream.waitForLine(/^\d+$/, 10_000))
  const place: Place = { root, tempDir, upstreamPort, children }
  const targets = [
    await startNginx(place, run.nginx),
    await startGateway(place, options.gatewayCommand),
  ]
  if (options.peers) {
    note('installing the peer from npm into a temp dir ...')
    targets.push(await startPeer(place))
  }
  return { targets, load: own('load') }
}

/** All slices of one kind of call: probe and warm-up first, then the targets in turn. */
async function runMode(
  options: Options,
  mode: Mode,
  targets: Target[],
  load: Child,
): Promise<{ slices: Slice[]; charges: Charges }> {
  const gateway = targets.find((target) => target.name === 'gateway')!
  const before = await readBalance(gateway)
  let served = 0
  const slices: Slice[] = []
  const works: Work[] = []
  for (const target of targets) {
    const work = await probe(target, mode)
    if ('wrong' in work) {
      if (!target.peer) throw new Error(work.wrong)
      note(`${work.wrong}\nbench: ${target.name} is left out of the ${mode} calls`)
      continue
    }
    const warm = await measure(load, work, options.connections, warmUpSeconds)
    works.push(work)
    if (target === gateway) served += warm.served + 1
  }
  for (let round = 1; round <= options.rounds; round++) {
    for (const work of works) {
      const slice = await measure(load, work, options.connections, options.seconds)
      slices.push(slice)
      if (work.target === gateway) served += slice.served
      const failures = slice.failed === 0 ? '' : `  ${slice.failed} failed: ${slice.firstFailure}`
      const cost = `${slice.cpuMicrosPerRequest.toFixed(1)} us/req`
      note(`${mode} round ${round}/${options.rounds} ${slice.target.padEnd(8)} ${cost}${failures}`)
    }
  }
  return { slices, charges: countCharges(before, await readBalance(gateway), mode, served) }
}

function machineLine(nginx: string): string {
  const all = cpus()
  const cpu = `${all.length} x ${all[0]?.model.trim() ?? 'unknown CPU'}`
  const versions = `Bun ${Bun.version}, nginx ${nginxVersion(nginx)}`
  return `machine: ${cpu}, Linux ${release()} ${process.arch}, ${versions}`
}

async function runBench(run: Run): Promise<number> {
  const { options } = run
  const { targets, load } = await startAll(run)
  const slices: Slice[] = []
  const parts: Charges[] = []
  for (const mode of options.modes) {
    const result = await runMode(options, mode, targets, load)
    slices.push(...result.slices)
    parts.push(result.charges)
  }
  const figures = summarise(slices)
  const verdicts = judge(figures, options.connections)
  const charges = sumCharges(parts)
  const { connections, rounds, seconds, chunksPerWrite, gatewayCommand } = options
  const setting =
    `setting: ${connections} connections, each with one request at a time; ` +
    `medians of ${rounds} interleaved rounds of ${seconds} s;\n` +
    `         a stream is 100 chunks, ${chunksPerWrite} per network write of the upstream` +
    (gatewayCommand === undefined ? '' : `;\n         'gateway' is: ${gatewayCommand}`)
  const machine = machineLine(run.nginx)
  const texts = [formatFigures(figures), formatVerdicts(verdicts), formatCharges(charges)]
  console.log(`\n${machine}\n${setting}\n\n${texts.join('\n\n')}`)
  if (options.jsonFile !== undefined) {
    const result = { machine, options, figures, verdicts, charges, slices }
    writeFileSync(options.jsonFile, `${JSON.stringify(result, undefined, 2)}\n`)
  }
  const good =
    verdicts.every((verdict) => verdict.met) &&
    figures.every((row) => row.target !== 'gateway' || row.failed === 0) &&
    charges.charged === charges.served
  return options.strict && !good ? 1 : 0
}

async function cleanUp(run: Run): Promise<void> {
  await Promise.all(run.children.map((child) => child.stop()))
  rmSync(run.tempDir, { recursive: true, force: true })
}

async function main(): Promise<number> {
  const parsed = parseOptions(process.argv.slice(2))
  if (parsed.kind === 'help') {
    console.log(help)
    return 0
  }
  if (parsed.kind === 'wrong') {
    note(`bench: ${parsed.message}; see --help`)
    return 64
  }
  if (!hasProc()) {
    note('bench: needs Linux: the CPU time of a process is read from /proc')
    return 69
  }
  const nginx = findNginx()
  if (nginx === undefined) {
    note('bench: nginx is missing, and it is the measure. Install it: apt-get install nginx')
    return 69
  }
  const { options } = parsed
  const run: Run = {
    options,
    nginx,
    tempDir: mkdtempSync(join(tmpdir(), 'gateway-bench-')),
    children: [],
  }
  const stopSeconds = hardStopSeconds(options)
  const stopped = Promise.withResolvers<number>()
  const giveUp = (why: string) => {
    note(`bench: stopped: ${why}`)
    stopped.resolve(1)
  }
  setTimeout(giveUp, stopSeconds * 1000, `not done in ${stopSeconds} s`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp(signal))
  try {
    return await Promise.race([runBench(run), stopped.promise])
  } catch (error) {
    note(`bench: ${(error as Error).message}`)
    return 1
  } finally {
    await cleanUp(run)
  }
}

process.exit(await main())
