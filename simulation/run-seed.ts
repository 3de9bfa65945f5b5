// One world from its seed to its result: a phase with faults in which no invariant may break, a phase without
// faults in which everything must end, and then the verification.

import { armCrashPoint } from '../src/lib/crash-point.ts'
import { insertAccount } from '../src/store/catalog/accounts.ts'
import { insertPrice } from '../src/store/catalog/prices.ts'
import { insertToken } from '../src/store/catalog/tokens.ts'
import type { Tx } from '../src/store/index.ts'
import { appendEntry } from '../src/store/ledger/entries.ts'
import type { Calling } from './callers/calling.ts'
import { Receivers } from './callers/receivers.ts'
import { CallerRecords } from './callers/records.ts'
import { tokenOf } from './callers/send-call.ts'
import type { Hub } from './gateway/cluster.ts'
import { kyselyOver, SimDatabase } from './gateway/database.ts'
import { type OwnCalls, SimGateway, type Surroundings } from './gateway/gateway.ts'
import { closeWriter } from './gateway/write-batch.ts'
import { Upstream } from './upstream/upstream.ts'
import { checkHolds, checkMemory } from './verify/check-memory.ts'
import { SolventAccounts } from './verify/solvent-accounts.ts'
import { openEnds, verifyWorld } from './verify/verify.ts'
import { SimContext } from './world/context.ts'
import { drawFaults, noFaults } from './world/faults.ts'
import { enter } from './world/globals.ts'
import { writeHistory } from './world/history.ts'
import { drawParts, type Parts } from './world/parts.ts'
import { newCosts, newPrice } from './world/prices.ts'
import { createRandom } from './world/random.ts'
import { models, partModels } from './world/settings.ts'
import { planInputs, planTrouble } from './world/workload.ts'
import { World } from './world/world.ts'

interface SeedOptions {
  seed: number
  template: Uint8Array
  tasks: number
  /** Drawn by the seed by default. */
  gateways?: 1 | 3 | undefined
  parts?: Parts | undefined
  /** Undefined where no world needs them. */
  ownCalls?: OwnCalls | undefined
  heavy?: boolean
  onLine?: ((line: string) => void) | undefined
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

/** Between two checks of the balances in memory. */
const memoryEveryMs = 700
const holdsEveryMs = 40
const solventEveryMs = 100
/** How long anything may take once there are no faults. */
const livenessMs = 480_000
/** Of every account, before any world begins: 2027-01-02. */
const openedMs = Date.UTC(2027, 0, 2)
const openingNanos = [400_000_000_000n, 14_000_000_000n, 5_000_000_000n]
/** The minimum of the phase with faults. */
const minMs = 4_000
/** Between two checks whether everything has ended. */
const overEveryMs = 500

export function runSeed(options: SeedOptions): Verdict {
  const { seed, template, tasks, onLine } = options
  const world = new World(seed, onLine)
  enter(world)
  const db = SimDatabase.fresh(template)
  const gateways = options.gateways ?? (createRandom(seed, 'shape').chance(0.5) ? 1 : 3)
  const parts = options.parts ?? drawParts(seed)
  const context = new SimContext(world, db, noFaults, gateways, parts)
  const around: Surroundings = {
    context,
    upstreamWire: { context, upstream: new Upstream(context) },
    receivers: new Receivers(context),
    hub: new Map() as Hub,
    ownCalls: options.ownCalls,
  }
  const names = gateways === 1 ? ['g1'] : ['g1', 'g2', 'g3']
  const all = names.map((name) => new SimGateway(name, around))
  const callers = world.newProc('callers')
  const calling: Calling = {
    context,
    gateways: all,
    callers,
    records: new CallerRecords(),
    solvent: new SolventAccounts(),
  }
  watchCrashes(context, all)
  try {
    createAccounts(calling)
    runPhases(calling, all, around, options)
    if (world.violations.length === 0) verifyWorld(calling, around)
  } finally {
    armCrashPoint(undefined)
    closeWriter(db)
    db.close()
  }
  const { digest, violations, deaths, events, nowMs } = world
  const lines = world.lastLines()
  return { seed, digest, violations, lines, deaths, tasks, events, virtualMs: nowMs }
}

/** A gateway may die at every crash point. */
function watchCrashes(context: SimContext, all: readonly SimGateway[]): void {
  armCrashPoint((point) => {
    const proc = context.world.current
    const isGateway = proc !== undefined && all.some((gateway) => gateway.proc === proc)
    if (!isGateway || !proc.alive) return
    if (context.random.process.chance(context.faults.process.crash))
      context.kill(proc, `at ${point}`)
  })
}

/** Accounts with money and a price for everything. */
function createAccounts({ context, records }: Calling): void {
  const { db, world } = context
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
        records.accounts.push({ id, openingNanos: nanos })
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
        const { accountName: _, ...token } = tokenOf(id)
        await insertToken(tx, { ...token, source: 'api', hash: `hash of ${id}`, createdAtMs: 1 })
        const opening = {
          atMs: openedMs,
          accountId: id,
          kind: 'credit',
          ref: `opening:${id}`,
        } as const
        await appendEntry(tx, { ...opening, amountNanos: nanos })
      }
      await insertPrices(tx, context, records)
    })
  })
  world.run(1)
  if (context.parts.books) writeHistory(context, records)
}

async function insertPrices(tx: Tx, { random }: SimContext, records: CallerRecords): Promise<void> {
  const prices = [
    ...Object.values(models).map((model) => newPrice(model, `price_${model}`, 1, random.work)),
    ...Object.values(partModels).map((model) => newPrice(model, `price_${model}`, 1, random.costs)),
  ]
  for (const price of prices) {
    records.prices.set(price.id, price)
    await insertPrice(tx, price, 1)
  }
  for (const cost of newCosts(random.costs)) {
    records.costs.push(cost)
    await insertPrice(tx, cost, 1)
  }
}

function runPhases(
  calling: Calling,
  all: SimGateway[],
  around: Surroundings,
  { tasks, heavy = false }: SeedOptions,
): void {
  const { context } = calling
  const { world } = context
  for (const gateway of all) gateway.start()
  const isUp = () => all.every(({ ready }) => ready)
  world.run(world.nowMs + 10_000, isUp)
  if (!isUp()) {
    world.addViolation('the gateways do not start')
    return
  }
  planChecks(calling, all)
  const overMs = minMs + tasks * context.profile.inputEveryMs
  context.faults = drawFaults(world.seed, heavy, context.parts)
  context.mayBeCutOff = context.faults.process.partitions > 0
  world.note(`faults: ${JSON.stringify(context.faults)}`)
  planInputs(calling, tasks)
  planTrouble(calling, all, around.upstreamWire.upstream, overMs)
  world.run(world.nowMs + overMs)
  if (world.violations.length > 0) return
  stopFaults(calling)
  let isOver = false
  const checkOver = () => {
    isOver = openEnds(calling, around).length === 0
    if (!isOver) world.after(overEveryMs, undefined, checkOver)
  }
  checkOver()
  const limitMs = livenessOf(context)
  world.run(world.nowMs + limitMs, () => isOver)
  if (world.violations.length > 0) return
  for (const open of openEnds(calling, around)) {
    world.addViolation(`without faults, this did not end in ${limitMs / 1000} s: ${open}`)
  }
}

/** Invariants that are checked all the time. */
function planChecks({ context, records, solvent }: Calling, all: SimGateway[]): void {
  const { world } = context
  world.watch(memoryEveryMs, () => {
    for (const gateway of all) checkMemory(context, gateway, records)
  })
  world.watch(holdsEveryMs, () => {
    for (const gateway of all) checkHolds(context, gateway, records)
  })
  world.watch(solventEveryMs, () => {
    for (const { id } of records.accounts) solvent.follow(context, all, id)
  })
}

/** A single gateway counts ages again an hour after a jump of its clock. */
const livenessOf = ({ gateways, profile }: SimContext): number =>
  gateways > 1 ? livenessMs : livenessMs + 3_600_000 + profile.maxClockStepMs

function stopFaults({ context, gateways }: Calling): void {
  context.faults = noFaults
  context.storeAwayUntilMs = 0
  context.frozenUntilMs = 0
  for (const { proc } of gateways) proc.skewMs = 0
  context.calmSinceMs = context.world.wallMs(undefined)
  context.world.note('no more faults')
}
