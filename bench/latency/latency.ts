// Routing by latency beside the default: two channels of which one is slow, a new one beside them, and the slow one
// when it is fast again. What callers wait, and where their calls go.

import { type Balance, type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { adminToken, gatewayConfig } from '../lib/gateway-config.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  stopAll,
  workspaceFor,
} from '../lib/part.ts'
import { startGateway } from '../lib/targets.ts'
import { commandFor, probe, runLoad, type Work } from '../load/slice.ts'
import { payloads } from '../payload/index.ts'
import type { FailCommand } from '../upstreams/failing-upstream.ts'
import {
  checkLatency,
  formatLatency,
  type LatencyFigures,
  type Phase,
  type Routing,
  recovered,
  routings,
} from './report.ts'

const connections = 16
const fastMs = 20
const slowMs = 200
const phaseSeconds = 4
/** How often the share of the recovered channel is measured. */
const pollSeconds = 1
const recoverSeconds = 30
const askMs = 5000

/** Warm-up, three phases and the recovery, for each kind of routing. */
export const latencySeconds = routings.length * (4 * phaseSeconds + recoverSeconds + 10)

interface Setup {
  upstream: Child
  url: string
  load: Child
  work: Work
  balance: Balance
}

async function setUp(run: Run, routing: Routing): Promise<Setup> {
  const own = workspaceFor(run, `latency-${routing}`)
  const upstream = startProgram(own, 'upstreams/failing-upstream', String(fastMs))
  const url = `http://127.0.0.1:${await portOf(upstream)}`
  send(upstream, { command: 'slow', channels: { slow: slowMs } })
  const channels = ['fast', 'slow'].map((name) => ({ name, url: `${url}/${name}` }))
  const model = {
    name: payloads.chat.model,
    ...{ kind: 'text', interfaces: ['chat'], routing },
  }
  const gateway = await startGateway(own, run.options.gatewayCommand, channels, {
    config: { ...gatewayConfig(channels), models: [model] },
  })
  const balance = await readBalance(gateway)
  const work = await probe(gateway, { style: 'chat', mode: 'json' })
  return { upstream, url, load: startProgram(own, 'load/load'), work, balance }
}

const send = (upstream: Child, command: FailCommand) => upstream.send(JSON.stringify(command))

export async function runLatency(run: Run): Promise<PartResult> {
  const figures: LatencyFigures[] = []
  const charges: Charges[] = []
  for (const routing of routings) {
    const measured = await measure(run, routing)
    figures.push(measured.figures)
    charges.push(measured.charges)
    // Each has the machine to itself.
    await stopAll(run)
  }
  return {
    setting:
      `routing: a channel of ${fastMs} ms and one of ${slowMs} ms, then a new one of ${fastMs} ms, then the slow one ` +
      `takes ${fastMs} ms, too; ${connections} connections, JSON chat calls`,
    tables: [formatLatency(figures)],
    verdicts: checkLatency(figures),
    charges,
    failed: figures.flatMap(({ phases }) => phases).reduce((sum, { failed }) => sum + failed, 0),
    figures: { latency: figures },
  }
}

async function measure(run: Run, routing: Routing) {
  const setup = await setUp(run, routing)
  let served = 1
  const phase = async (name: string, seconds: number): Promise<Phase> => {
    const made = await runPhase(setup, routing, name, seconds)
    served += made.served
    return made
  }
  await phase('warm-up', phaseSeconds)
  const phases = [await phase('slow', phaseSeconds)]
  await addChannel(setup)
  phases.push(await phase('new', phaseSeconds))
  send(setup.upstream, { command: 'slow', channels: {} })
  const startMs = performance.now()
  let recoveredMs: number | undefined
  for (let waited = 0; waited < recoverSeconds; waited += pollSeconds) {
    if (!recovered(await phase('recovering', pollSeconds))) continue
    recoveredMs = performance.now() - startMs
    break
  }
  phases.push(await phase('recovered', phaseSeconds))
  const balance = await readBalance(setup.work.target)
  return {
    figures: { routing, phases, ...(recoveredMs !== undefined && { recoveredMs }) },
    charges: countCharges(setup.balance, balance, 'json', served),
  }
}

/** By the admin API, while calls could run. */
async function addChannel({ url, work: { target } }: Setup): Promise<void> {
  const { channels } = gatewayConfig([{ name: 'new', url: `${url}/new` }]) as { channels: object[] }
  const answer = await fetch(`http://127.0.0.1:${target.port}/admin/v1/channels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(channels[0]),
    signal: AbortSignal.timeout(askMs),
  })
  if (!answer.ok) throw new Error(`the channel was not added: ${await answer.text()}`)
}

async function runPhase(
  { upstream, load, work }: Setup,
  routing: Routing,
  name: string,
  seconds: number,
): Promise<Phase> {
  await ask(upstream, { command: 'count' } satisfies FailCommand, askMs)
  const result = await runLoad(load, work.target, commandFor(work, connections, seconds))
  const calls = await ask<Record<string, number>>(upstream, { command: 'count' }, askMs)
  const failures = result.failed === 0 ? '' : `  ${result.failed} failed: ${result.firstFailure}`
  note(`routing ${routing.padEnd(7)} ${name.padEnd(10)} ${JSON.stringify(calls)}${failures}`)
  const { served, failed, p50Ms, p99Ms } = result
  return { name, seconds, served, failed, calls, p50Ms, p99Ms }
}
