// One, two and four gateways on one PostgreSQL, and one gateway of two workers, under calls that are
// spread over them. All of it shares this machine, so what counts is the CPU time of each part per
// call. Refuses to know how gateways share a database.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { note, type PartResult, portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import {
  hasPostgresPrograms,
  type OwnPostgres,
  readCost,
  startBenchPostgres,
} from '../lib/postgres.ts'
import { childrenOf, cpuMicros } from '../lib/proc.ts'
import { startGateway, type Target, type Workspace } from '../lib/targets.ts'
import type { LoadResult } from '../load/load.ts'
import { commandFor, probe, runLoad, type Work } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { formatPerCore, formatScaling, type ScalingFigures } from './report.ts'

const settings = [
  { gateways: 1, workers: 1 },
  { gateways: 2, workers: 1 },
  { gateways: 4, workers: 1 },
  { gateways: 1, workers: 2 },
] as const
const warmUpSeconds = 4
const startSeconds = 20
const call = { style: 'chat', mode: 'json' } as const

export const scalingSeconds = (options: Options): number =>
  settings.length * (options.seconds * 2 + warmUpSeconds + startSeconds)

export async function runScaling(run: Run): Promise<PartResult> {
  const rows: ScalingFigures[] = []
  const charges: Charges[] = []
  if (!hasPostgresPrograms) note('scaling: PostgreSQL is not installed, so nothing was measured')
  else {
    for (const setting of settings) {
      const postgres = await startBenchPostgres()
      try {
        await runSetting(run, setting, postgres, rows, charges)
      } finally {
        await postgres.remove()
      }
    }
  }
  const { connections, seconds } = run.options
  return {
    setting:
      `scaling: chat calls as JSON over ${connections} connections, spread over the gateways, ` +
      `for ${seconds * 2} s;\n         everything on this machine, so read the CPU time`,
    tables: [formatScaling(rows), formatPerCore(rows)],
    charges,
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    figures: { scaling: rows },
  }
}

interface Setup {
  gateways: Target[]
  loads: Child[]
  works: Work[]
  upstream: Child
}

async function setUp(
  run: Run,
  { gateways, workers }: (typeof settings)[number],
  postgres: OwnPostgres,
): Promise<Setup> {
  const own = workspaceFor(run, `scaling-${gateways}-${workers}`)
  const upstream = startProgram(own, 'upstreams/text-upstream', '10')
  const upstreamPort = await portOf(upstream)
  const env = {
    GATEWAY_DATABASE_URL: postgres.url,
    GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    GATEWAY_WORKERS: String(workers),
  }
  const started: Target[] = []
  for (let i = 0; i < gateways; i++) {
    const workspace: Workspace = { ...own, tempDir: join(own.tempDir, String(i)), upstreamPort }
    mkdirSync(workspace.tempDir)
    started.push(await startGateway(workspace, run.options.gatewayCommand, undefined, { env }))
  }
  const works = await Promise.all(started.map((target) => probe(target, call)))
  // Several callers, so that they are not what is measured.
  const loads = started.map(() => startProgram(own, 'load/load'))
  return { gateways: started, loads, works, upstream }
}

async function runSetting(
  run: Run,
  setting: (typeof settings)[number],
  postgres: OwnPostgres,
  rows: ScalingFigures[],
  charges: Charges[],
): Promise<void> {
  note(`scaling: ${setting.gateways} gateway(s) of ${setting.workers} worker(s) ...`)
  const setup = await setUp(run, setting, postgres)
  const { gateways, upstream, loads } = setup
  const spread = (seconds: number) => runAll(setup, run.options.connections, seconds)
  await spread(warmUpSeconds)
  const balance = await readBalance(gateways[0]!)
  const gatewayPids = gateways.flatMap(({ child }) => [child.pid, ...childrenOf(child.pid)])
  const otherPids = [upstream, ...loads].map(({ pid }) => pid)
  const before = { own: cpuMicros(gatewayPids), others: cpuMicros(otherPids) }
  const costBefore = await readCost(postgres)
  const results = await spread(run.options.seconds * 2)
  const costAfter = await readCost(postgres)
  const served = results.reduce((sum, result) => sum + result.served, 0)
  const elapsedMs = Math.max(...results.map((result) => result.elapsedMs))
  rows.push({
    ...setting,
    callsPerSecond: (served * 1000) / elapsedMs,
    p50Ms: mean(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    gatewayMicros: (cpuMicros(gatewayPids) - before.own) / served,
    postgresMicros: (costAfter.cpuMicros - costBefore.cpuMicros) / served,
    othersMicros: (cpuMicros(otherPids) - before.others) / served,
    commitsPerSecond: ((costAfter.commits - costBefore.commits) * 1000) / elapsedMs,
    connections: await countConnections(postgres),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
  })
  charges.push(countCharges(balance, await readBalance(gateways[0]!), call.mode, served))
  await Promise.all(
    [...gateways.map(({ child }) => child), upstream, ...loads].map((c) => c.stop()),
  )
}

async function countConnections(postgres: OwnPostgres): Promise<number> {
  const [row] = await postgres.ask<{ n: string }>(
    "SELECT count(*)::text AS n FROM pg_stat_activity WHERE application_name = 'model-gateway'",
  )
  return Number(row!.n)
}

function runAll({ gateways, loads, works }: Setup, connections: number, seconds: number) {
  const each = Math.max(1, Math.round(connections / gateways.length))
  const run = (work: Work, i: number): Promise<LoadResult> =>
    runLoad(loads[i]!, work.target, commandFor(work, each, seconds))
  return Promise.all(works.map(run))
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
