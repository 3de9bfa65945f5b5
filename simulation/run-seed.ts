// One world from its seed to its verdict: a time with faults in which nothing wrong may happen, then a
// time without in which everything must come to an end, then the books.

import { armCrashPoint } from '../src/lib/crash-point.ts'
import { insertAccount } from '../src/store/catalog/accounts.ts'
import { insertPrice } from '../src/store/catalog/prices.ts'
import { appendEntry } from '../src/store/ledger/entries.ts'
import type { Calling } from './callers/callers.ts'
import { Receivers } from './callers/receivers.ts'
import { CallersBooks } from './callers/records.ts'
import type { Hub } from './gateway/cluster.ts'
import { kyselyOver, SimDatabase } from './gateway/database.ts'
import { SimGateway, type Surroundings } from './gateway/gateway.ts'
import { closeWriter } from './gateway/write-batch.ts'
import { Upstream } from './upstream/upstream.ts'
import { checkHolds, checkMemory } from './verify/check-memory.ts'
import { Plenty } from './verify/solvent-accounts.ts'
import { judge, openEnds } from './verify/verify.ts'
import { Stage } from './world/context.ts'
import { drawFaults, noFaults } from './world/faults.ts'
import { enter } from './world/globals.ts'
import { newPrice } from './world/prices.ts'
import { createRandom } from './world/random.ts'
import { models } from './world/settings.ts'
import { planInputs, planTrouble } from './world/workload.ts'
import { World } from './world/world.ts'

export interface SeedOptions {
  seed: number
  template: Uint8Array
  tasks: number
  /** Drawn by the seed where it is not said. */
  gateways?: 1 | 3 | undefined
  say?: ((line: string) => void) | undefined
}

export interface Verdict {
  seed: number
  digest: string
  violations: readonly string[]
  lines: readonly string[]
  deaths: readonly string[]
  tasks: number
  events: number
  virtualMs: number
}

/** Between two looks at the balances in memory. */
const memoryEveryMs = 700
const holdsEveryMs = 40
const plentyEveryMs = 100
/** The longest anything may take once nothing goes wrong any more. */
const livenessMs = 480_000
/** Of every account, before any world begins: 2027-01-02. */
const openedMs = Date.UTC(2027, 0, 2)
const openingNanos = [400_000_000_000n, 14_000_000_000n, 5_000_000_000n]
/** A time with faults lasts at least so long, also where all is wanted at once. */
const minMs = 4_000
/** Between two questions whether everything has come to its end. */
const overEveryMs = 500

export function runSeed(options: SeedOptions): Verdict {
  const { seed, template, tasks, say } = options
  const world = new World(seed, say)
  enter(world)
  const db = SimDatabase.fresh(template)
  const gateways = options.gateways ?? (createRandom(seed, 'shape').chance(0.5) ? 1 : 3)
  const stage = new Stage(world, db, noFaults, gateways)
  const around: Surroundings = {
    stage,
    speaker: { stage, upstream: new Upstream(stage) },
    receivers: new Receivers(stage),
    hub: new Map() as Hub,
  }
  const names = gateways === 1 ? ['g1'] : ['g1', 'g2', 'g3']
  const all = names.map((name) => new SimGateway(name, around))
  const callers = world.newProc('callers')
  const calling: Calling = {
    stage,
    gateways: all,
    callers,
    books: new CallersBooks(),
    plenty: new Plenty(),
  }
  watchCrashes(stage, all)
  try {
    furnish(calling)
    play(calling, all, around, tasks)
    if (world.violations.length === 0) judge(calling, around)
  } finally {
    armCrashPoint(undefined)
    closeWriter(db)
    db.close()
  }
  const { digest, violations, deaths, events, nowMs } = world
  const lines = world.lastLines()
  return { seed, digest, violations, lines, deaths, tasks, events, virtualMs: nowMs }
}

/** A gateway that passes a named point may die there. */
function watchCrashes(stage: Stage, all: readonly SimGateway[]): void {
  armCrashPoint((point) => {
    const proc = stage.world.current
    const isGateway = proc !== undefined && all.some((gateway) => gateway.proc === proc)
    if (!isGateway || !proc.alive) return
    if (stage.random.process.chance(stage.faults.process.crash)) stage.kill(proc, `at ${point}`)
  })
}

/** Accounts with money and a price for everything. */
function furnish({ stage, books }: Calling): void {
  const { db, world, random } = stage
  const target = kyselyOver({
    ask: async (sql, parameters) => db.query(sql, parameters),
    begin: async () => db.run('BEGIN'),
    commit: async () => db.run('COMMIT'),
    rollback: async () => db.rollback(),
  })
  world.after(0, undefined, () => {
    void target.transaction().execute(async (tx) => {
      for (const [at, nanos] of openingNanos.entries()) {
        const id = `acc_${at + 1}`
        books.accounts.push({ id, openingNanos: nanos })
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
        const opening = {
          atMs: openedMs,
          accountId: id,
          kind: 'credit',
          ref: `opening:${id}`,
        } as const
        await appendEntry(tx, { ...opening, amountNanos: nanos })
      }
      for (const model of Object.values(models)) {
        const price = newPrice(model, `price_${model}`, 1, random.work)
        books.prices.set(price.id, price)
        await insertPrice(tx, price, 1)
      }
    })
  })
  world.run(1)
}

function play(calling: Calling, all: SimGateway[], around: Surroundings, tasks: number): void {
  const { stage, books } = calling
  const { world } = stage
  for (const gateway of all) gateway.start()
  const isUp = () => all.every(({ ready }) => ready)
  world.run(world.nowMs + 10_000, isUp)
  if (!isUp()) {
    world.blame('the gateways do not start')
    return
  }
  const again = (everyMs: number, poll: (gateway: SimGateway) => void): void => {
    for (const gateway of all) poll(gateway)
    world.after(everyMs, undefined, () => again(everyMs, poll))
  }
  again(memoryEveryMs, (gateway) => checkMemory(stage, gateway, books))
  again(holdsEveryMs, (gateway) => checkHolds(stage, gateway, books))
  again(plentyEveryMs, (gateway) => {
    if (gateway !== all[0]) return
    for (const { id } of books.accounts) calling.plenty.follow(stage, all, id)
  })
  const overMs = minMs + tasks * stage.manners.inputEveryMs
  stage.faults = drawFaults(world.seed)
  stage.mayBeCutOff = stage.faults.process.partitions > 0
  world.note(`faults: ${JSON.stringify(stage.faults)}`)
  planInputs(calling, tasks)
  planTrouble(calling, all, around.speaker.upstream, overMs)
  world.run(world.nowMs + overMs)
  if (world.violations.length > 0) return
  isHealthy(calling)
  let isOver = false
  const ask = () => {
    isOver = openEnds(calling, around).length === 0
    if (!isOver) world.after(overEveryMs, undefined, ask)
  }
  ask()
  const limitMs = livenessOf(stage)
  world.run(world.nowMs + limitMs, () => isOver)
  if (world.violations.length > 0) return
  for (const open of openEnds(calling, around)) {
    world.blame(`without faults, this did not end in ${limitMs / 1000} s: ${open}`)
  }
}

/** Where no other clock tells how late it is, ages count again an hour after a jump. */
const livenessOf = ({ gateways, manners }: Stage): number =>
  gateways > 1 ? livenessMs : livenessMs + 3_600_000 + manners.maxClockStepMs

function isHealthy({ stage, gateways }: Calling): void {
  stage.faults = noFaults
  stage.storeAwayUntilMs = 0
  stage.frozenUntilMs = 0
  for (const { proc } of gateways) proc.skewMs = 0
  stage.calmSinceMs = stage.world.wallMs(undefined)
  stage.world.note('no more faults')
}
