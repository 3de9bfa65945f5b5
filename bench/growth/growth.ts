// How the CPU of a call and the start of a gateway grow with the rows of the log, the tokens, the models
// and the channels of a model. Each size is measured in turn with the smallest of its kind, which runs
// beside it. Refuses to know tables.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store } from '../../src/store/index.ts'
import { finishReceipts, unfinishedKey } from '../../src/store/migrations/finish-receipts.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { callerToken } from '../lib/gateway-config.ts'
import { note, type PartResult, portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { cpuMicros, memory } from '../lib/proc.ts'
import { startGateway, type Target, type Workspace } from '../lib/targets.ts'
import type { LoadCommand } from '../load/load.ts'
import { commandFor, probe, rawRequest, runLoad, settleSeconds } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { fillLog } from '../pages/fill-log.ts'
import { growthConfig, growthModel } from './config.ts'
import { fillTokens, masterKey, secretOf, usedTokens } from './fill-tokens.ts'
import { checkGrowth, formatGrowth, type GrowthFigures } from './report.ts'

/** A gateway that has answered fewer calls than another is compiled less well. */
const warmUp = { calls: 100_000, sliceSeconds: 2, maxSeconds: 80 }
const call = { style: 'chat', mode: 'json' } as const
/** Models that calls are made with, or as many as there are. */
const usedModels = 100
/** Work in the background after a start must not be counted as the cost of calls. */
const quiet = { everyMs: 1000, micros: 20_000, maxSeconds: 180 }
const startSeconds = 60
const secondsPerMillionRows = 120

interface Kind {
  what: string
  catalog(size: number): { models: number; channels: number }
  fill?(store: Store, size: number): Promise<void>
  tokens(size: number): string[]
}

const fewModels = { models: 10, channels: 1 }
const oneToken = () => [callerToken]

const kinds: Record<keyof Options['growth'], Kind> = {
  rows: { what: 'log rows', catalog: () => fewModels, fill: fillLog, tokens: oneToken },
  tokens: {
    what: 'tokens',
    catalog: () => fewModels,
    fill: fillTokens,
    tokens: (size) => Array.from({ length: Math.min(size, usedTokens) }, (_, i) => secretOf(i)),
  },
  models: { what: 'models', catalog: (models) => ({ models, channels: 1 }), tokens: oneToken },
  channels: {
    what: 'channels per model',
    catalog: (channels) => ({ models: 10, channels }),
    tokens: oneToken,
  },
}

export function growthSeconds({ growth, rounds, seconds }: Options): number {
  const sizes = Object.values(growth).flat().length
  const rows = growth.rows.reduce((sum, each) => sum + each, 0)
  const slices = rounds * (seconds + settleSeconds)
  const measured = 2 * (slices + warmUp.maxSeconds) + 2 * startSeconds + quiet.maxSeconds
  return sizes * measured + (rows / 1_000_000) * secondsPerMillionRows
}

interface Grown {
  target: Target
  command: LoadCommand
  startSeconds: number
}

export async function runGrowth(run: Run): Promise<PartResult> {
  const place = workspaceFor(run, 'growth')
  const upstreamPort = await portOf(startProgram(place, 'upstreams/text-upstream', '10'))
  const load = startProgram(place, 'load/load')
  const rows: GrowthFigures[] = []
  const charges: Charges[] = []
  for (const name of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const kind = kinds[name]
    let smallest: Grown | undefined
    for (const size of run.options.growth[name]) {
      const workspace = { ...place, upstreamPort, tempDir: join(place.tempDir, `${name}-${size}`) }
      mkdirSync(workspace.tempDir)
      const grown = await grow(run, workspace, kind, size)
      smallest ??= grown
      const pair = { smallest, grown }
      rows.push(await compare(run.options, load, { what: kind.what, size }, pair, charges))
      if (grown !== smallest) await grown.target.child.stop()
    }
    await smallest?.target.child.stop()
  }
  return {
    setting:
      'growth: chat calls as JSON, each size in turn with the smallest of its kind; ' +
      `medians of ${run.options.rounds} rounds of ${run.options.seconds} s`,
    tables: [formatGrowth(rows)],
    verdicts: checkGrowth(rows),
    charges,
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    figures: { growth: rows },
  }
}

/** A first start makes the store and the account; the second, on the filled store, is the one that counts. */
async function grow(run: Run, workspace: Workspace, kind: Kind, size: number): Promise<Grown> {
  const { upstreamPort, tempDir } = workspace
  note(`growth: ${size} ${kind.what} ...`)
  const catalog = kind.catalog(size)
  const config = growthConfig(`http://127.0.0.1:${upstreamPort}`, catalog)
  const env = { GATEWAY_MASTER_KEY: masterKey.toString('base64') }
  const start = () => startGateway(workspace, run.options.gatewayCommand, [], { config, env })
  const first = await start()
  await first.child.stop()
  if (kind.fill !== undefined) {
    const store = await openStore({ dataDir: join(tempDir, 'data') })
    await kind.fill(store, size)
    await writeReceipts(store)
    await store.close()
  }
  const startMs = performance.now()
  const target = await start()
  const startSeconds = (performance.now() - startMs) / 1000
  await untilQuiet(target)
  const tokens = kind.tokens(size)
  const work = await probe(withToken(target, tokens[0]!), { ...call, model: growthModel(0) })
  const models = Math.min(catalog.models, usedModels)
  const requests = Array.from({ length: Math.max(models, tokens.length) }, (_, i) =>
    rawRequest(withToken(target, tokens[i % tokens.length]!), {
      ...call,
      model: growthModel(Math.floor(((i % models) * catalog.models) / models)),
    }),
  )
  return { target, startSeconds, command: { ...commandFor(work, 1, 1), requests } }
}

const withToken = (target: Target, token: string): Target => ({
  ...target,
  headers: { authorization: `Bearer ${token}` },
})

/** As a gateway in use has them: the next start would write them, and an audit misses them. */
async function writeReceipts(store: Store): Promise<void> {
  await store.tx((db) => setMeta(db, unfinishedKey, '0'))
  while (!(await store.tx(finishReceipts)));
}

async function untilQuiet({ pids }: Target): Promise<void> {
  for (let second = 0; second < quiet.maxSeconds; second++) {
    const before = cpuMicros(pids)
    await Bun.sleep(quiet.everyMs)
    if (cpuMicros(pids) - before <= quiet.micros) return
  }
  note('growth: the gateway is still busy with itself')
}

/** Slices of load on one gateway, with what it has served so far. */
function slicer(load: Child, { target, command }: Grown, connections: number) {
  const total = { served: 0, failed: 0 }
  const slice = async (seconds: number): Promise<number> => {
    const spent = cpuMicros(target.pids)
    const result = await runLoad(load, target, { ...command, connections, seconds })
    total.served += result.served
    total.failed += result.failed
    await Bun.sleep(settleSeconds * 1000)
    if (result.failed > 0) note(`growth: ${result.failed} failed: ${result.firstFailure}`)
    return (cpuMicros(target.pids) - spent) / result.served
  }
  const warm = async () => {
    for (let spent = 0; spent < warmUp.maxSeconds; spent += warmUp.sliceSeconds) {
      if (total.served >= warmUp.calls) return
      await slice(warmUp.sliceSeconds)
    }
  }
  return { slice, warm, total }
}

async function compare(
  { connections, rounds, seconds }: Options,
  load: Child,
  named: Pick<GrowthFigures, 'what' | 'size'>,
  { smallest, grown }: Record<'smallest' | 'grown', Grown>,
  charges: Charges[],
): Promise<GrowthFigures> {
  const { target, startSeconds } = grown
  const before = await readBalance(target)
  const isSmallest = smallest === grown
  const own = slicer(load, grown, connections)
  const other = isSmallest ? own : slicer(load, smallest, connections)
  await other.slice(warmUp.sliceSeconds)
  await own.warm()
  const smallestMicros: number[] = []
  const micros: number[] = isSmallest ? smallestMicros : []
  for (let round = 1; round <= rounds; round++) {
    smallestMicros.push(await other.slice(seconds))
    if (!isSmallest) micros.push(await own.slice(seconds))
    const cost = `${micros.at(-1)!.toFixed(1)} us/req`
    note(`round ${round}/${rounds} ${named.size} ${named.what} ${cost}`)
  }
  const { served, failed } = own.total
  charges.push(countCharges(before, await readBalance(target), call.mode, served))
  const { rssBytes } = memory(target.pids)
  return { ...named, startSeconds, micros, smallestMicros, rssBytes, failed }
}
