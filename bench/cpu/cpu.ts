// The CPU figures: every style as JSON and as a stream, the targets in turn, so that noise on the
// machine hits all of them. Refuses to know tables.

import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { note, type PartResult, portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { startGateway, startNginx, startPeer, type Target } from '../lib/targets.ts'
import { type Call, measure, probe, type Work } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { hasMode, type Mode } from '../payload/index.ts'
import { checkFigures, formatFigures, reference, type Slice, summarise } from './report.ts'

/** Long enough for a just-in-time compiler to have done most of its work: the steady state counts. */
const warmUpSeconds = 5
/** What is compiled already only has to open its connections. */
const shortWarmUpSeconds = 1
const peerSeconds = 120

const callsOf = (options: Options, mode: Mode): Call[] =>
  options.styles.filter((style) => hasMode(style, mode)).map((style) => ({ style, mode }))

export function cpuSeconds(options: Options): number {
  const calls = options.modes.flatMap((mode) => callsOf(options, mode)).length
  const slices = options.rounds * options.seconds
  const own = calls * (2 * slices + warmUpSeconds + shortWarmUpSeconds)
  const peer = options.modes.length * (slices + warmUpSeconds) + peerSeconds
  return own + (options.peers ? peer : 0)
}

export async function runCpu(run: Run): Promise<PartResult> {
  const { options } = run
  const { targets, load } = await startAll(run)
  const slices: Slice[] = []
  const charges: Charges[] = []
  for (const mode of options.modes) {
    const result = await runMode(options, mode, targets, load)
    slices.push(...result.slices)
    charges.push(result.charges)
  }
  const figures = summarise(slices)
  const own = figures.filter(({ target }) => target === 'gateway')
  const { connections, rounds, seconds, chunksPerWrite } = options
  return {
    setting:
      `CPU: ${connections} connections, each with one request at a time; ` +
      `medians of ${rounds} interleaved rounds of ${seconds} s;\n` +
      `     a stream is 100 deltas, ${chunksPerWrite} events per network write of the upstream`,
    tables: [formatFigures(figures)],
    verdicts: checkFigures(figures, connections),
    charges,
    failed: own.reduce((sum, row) => sum + row.failed, 0),
    figures: { figures, slices },
  }
}

async function startAll(run: Run): Promise<{ targets: Target[]; load: Child }> {
  const { options } = run
  const own = workspaceFor(run, 'cpu')
  const upstream = startProgram(own, 'upstreams/text-upstream', String(options.chunksPerWrite))
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const targets = [
    await startNginx(workspace, run.nginx),
    await startGateway(workspace, options.gatewayCommand),
  ]
  if (options.peers) {
    note('installing the peer from npm into a temp dir ...')
    targets.push(await startPeer(workspace))
  }
  return { targets, load: startProgram(own, 'load/load') }
}

/** All slices of one kind of call: probe and warm-up first, then styles and targets in turn. */
async function runMode(
  options: Options,
  mode: Mode,
  targets: Target[],
  load: Child,
): Promise<{ slices: Slice[]; charges: Charges }> {
  const gateway = targets.find((target) => target.name === 'gateway')!
  const before = await readBalance(gateway)
  const works = await warmUp(options, mode, targets, load)
  let served = works.served
  const slices: Slice[] = []
  for (let round = 1; round <= options.rounds; round++) {
    for (const work of works.ready) {
      const slice = await measure(load, work, options.connections, options.seconds)
      slices.push(slice)
      if (work.target === gateway) served += slice.served
      const failures = slice.failed === 0 ? '' : `  ${slice.failed} failed: ${slice.firstFailure}`
      const what = `${mode} ${slice.style.padEnd(10)} ${slice.target.padEnd(8)}`
      const cost = `${slice.cpuMicrosPerRequest.toFixed(1)} us/req`
      note(`round ${round}/${options.rounds} ${what} ${cost}${failures}`)
    }
  }
  return { slices, charges: countCharges(before, await readBalance(gateway), mode, served) }
}

/** What answers correctly, warm; and how many calls the gateway has answered for that. */
async function warmUp(
  options: Options,
  mode: Mode,
  targets: Target[],
  load: Child,
): Promise<{ ready: Work[]; served: number }> {
  const ready: Work[] = []
  let served = 0
  for (const call of callsOf(options, mode)) {
    for (const target of targets) {
      if (target.peer && call.style !== 'chat') continue
      const work = await probe(target, call).catch((error: Error) => {
        if (!target.peer) throw error
        note(`${error.message}\nbench: ${target.name} is left out of the ${mode} calls`)
      })
      if (work === undefined) continue
      const seconds = target.name === reference ? shortWarmUpSeconds : warmUpSeconds
      const warm = await measure(load, work, options.connections, seconds)
      ready.push(work)
      if (target.name === 'gateway') served += warm.served + 1
    }
  }
  return { ready, served }
}
