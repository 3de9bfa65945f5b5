// Three channels, one of which fails every call at once, and heals: what callers see of it, what it
// costs in attempts, and whether the healed channel gets its share of the work back.

import { type Balance, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  workspaceFor,
} from '../lib/part.ts'
import { startGateway } from '../lib/targets.ts'
import { commandFor, probe, runLoad, type Work } from '../load/slice.ts'
import type { FailCommand } from '../upstreams/failing-upstream.ts'
import {
  checkFailover,
  type FailoverFigures,
  formatFailover,
  type Phase,
  shareLimit,
  shareOf,
} from './report.ts'

const channels = ['a', 'b', 'c']
const failing = 'b'
const connections = 32
const phaseSeconds = 3
/** Long enough for a channel that is avoided to be tried again, and to fail again. */
const failingSeconds = 8
/** How often the share of the healed channel is measured. */
const pollSeconds = 1
/** Longer than any channel is avoided after it has failed. */
const healSeconds = 40
const countMs = 5000

export const failoverSeconds = 3 * phaseSeconds + failingSeconds + healSeconds

interface Setup {
  upstream: Child
  load: Child
  work: Work
  /** Before the first call. */
  balance: Balance
}

async function setUp(run: Run): Promise<Setup> {
  const own = workspaceFor(run, 'failover')
  const upstream = startProgram(own, 'upstreams/failing-upstream')
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const url = `http://127.0.0.1:${workspace.upstreamPort}`
  const gateway = await startGateway(
    workspace,
    run.options.gatewayCommand,
    channels.map((name) => ({ name, url: `${url}/${name}` })),
  )
  const balance = await readBalance(gateway)
  const work = await probe(gateway, { style: 'chat', mode: 'json' })
  return { upstream, load: startProgram(own, 'load/load'), work, balance }
}

export async function runFailover(run: Run): Promise<PartResult> {
  const setup = await setUp(run)
  const phases: Phase[] = []
  const phase = async (name: string, seconds: number) => {
    phases.push(await runPhase(setup, name, seconds))
    return phases.at(-1)!
  }
  await phase('warm-up', phaseSeconds)
  const before = await phase('before', phaseSeconds)
  const during = await failOne(setup.upstream, phase)
  const healedMs = await waitForShare(phase, shareOf(before, failing))
  const after = await phase('after', phaseSeconds)
  const figures: FailoverFigures = {
    failing,
    before,
    during,
    after,
    ...(healedMs !== undefined && { healedMs }),
  }
  const served = phases.reduce((sum, each) => sum + each.served, 1)
  const balance = await readBalance(setup.work.target)
  return {
    setting:
      `fail-over: ${channels.length} channels, one answers 503 at once for ${failingSeconds} s; ` +
      `${connections} connections, JSON chat calls`,
    tables: [formatFailover(figures)],
    verdicts: checkFailover(figures),
    charges: [countCharges(setup.balance, balance, 'json', served)],
    failed: phases.reduce((sum, each) => sum + each.failed, 0),
    figures: { failover: figures },
  }
}

type RunPhase = (name: string, seconds: number) => Promise<Phase>

const send = (upstream: Child, command: FailCommand) => upstream.send(JSON.stringify(command))

async function failOne(upstream: Child, phase: RunPhase): Promise<Phase> {
  send(upstream, { command: 'fail', channels: [failing] })
  const during = await phase('during', failingSeconds)
  send(upstream, { command: 'fail', channels: [] })
  return during
}

/** How long it took; undefined when the time was up. */
async function waitForShare(phase: RunPhase, wanted: number): Promise<number | undefined> {
  const startMs = performance.now()
  for (let waited = 0; waited < healSeconds; waited += pollSeconds) {
    const polled = await phase('healing', pollSeconds)
    if (shareOf(polled, failing) >= wanted * shareLimit) return performance.now() - startMs
  }
  return undefined
}

async function runPhase(setup: Setup, name: string, seconds: number): Promise<Phase> {
  const { upstream, load, work } = setup
  await ask(upstream, { command: 'count' } satisfies FailCommand, countMs)
  const result = await runLoad(load, work.target, commandFor(work, connections, seconds))
  const attempts = await ask<Record<string, number>>(upstream, { command: 'count' }, countMs)
  const failures = result.failed === 0 ? '' : `  ${result.failed} failed: ${result.firstFailure}`
  note(`fail-over ${name.padEnd(8)} ${JSON.stringify(attempts)}${failures}`)
  const { served, failed, p50Ms, p99Ms } = result
  return { name, served, failed, attempts, p50Ms, p99Ms }
}
