// One gateway of a world: the real engine over the simulated store and wire, in a process that dies and
// restarts. It starts as the real one does, without the HTTP listener.

import type { RunOwnCall } from '../../src/contract/caller-api.ts'
import { createEngine, type RunningEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createSeal } from '../../src/lib/crypto/seal.ts'
import type { Log, LogFields } from '../../src/lib/telemetry/log.ts'
import type { Receivers } from '../callers/receivers.ts'
import type { UpstreamWire } from '../upstream/messages.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'
import { settings } from '../world/settings.ts'
import type { World } from '../world/world.ts'
import { type Hub, SimCluster } from './cluster.ts'
import { SimHttp } from './http.ts'
import { type JournalDir, SimJournal } from './journal.ts'
import { RecordDisk } from './record-disk.ts'
import { SimStore } from './store.ts'

const limits = {
  bodyBytes: 32 * 1024 * 1024,
  jsonDepth: 64,
  abandonedStreams: 4,
  abandonedMs: 5_000,
  tokenCacheEntries: 10,
  queuedCalls: 50,
  queueMs: 2_000,
}
const seal = createSeal(new Uint8Array(32).fill(3))
/** Those that have effects that can be checked. */
const services = [
  'price-watch',
  'poller',
  'callbacks',
  'abandoned-checks',
  'auditor',
  'loss-alerts',
  'receipt-writer',
]
const startFailedMs = 1_000
const maxDrainMs = 5_000
/** As in the heartbeat of the PostgreSQL store. */
const silentMs = 600

export interface Surroundings {
  context: SimContext
  upstreamWire: UpstreamWire
  receivers: Receivers
  hub: Hub
  /** For worlds whose gateways make calls themselves. */
  ownCalls?: OwnCalls | undefined
}

export type OwnCalls = (engine: Engine) => RunOwnCall

export class SimGateway {
  readonly name: string
  readonly #around: Surroundings
  #starts = 0
  readonly #journals: JournalDir = new Map()
  readonly disk = new RecordDisk()
  proc: Proc
  #running: RunningEngine | undefined
  cluster: SimCluster | undefined

  constructor(name: string, around: Surroundings) {
    this.name = name
    this.#around = around
    this.proc = around.context.world.newProc(name)
    this.proc.alive = false
  }

  /** Accepts calls. */
  get ready(): boolean {
    return this.proc.alive && this.engine !== undefined
  }

  get engine(): Engine | undefined {
    return this.#running?.engine
  }

  start(): void {
    const { context } = this.#around
    const { world, random } = context
    const skewMs = this.proc.skewMs
    this.proc = world.newProc(`${this.name}.${++this.#starts}`)
    this.proc.skewMs = skewMs
    this.#running = undefined
    const proc = this.proc
    proc.onDeath.add(() => {
      this.#running = undefined
      world.after(random.process.between(100, 8_000), undefined, () => this.start())
    })
    world.after(0, proc, () => {
      world.note('starts')
      this.#open(proc).catch((error: unknown) => {
        world.note(`cannot start: ${error instanceof Error ? error.message : error}`)
        world.after(startFailedMs, proc, () => context.kill(proc, 'could not start'))
      })
    })
  }

  /** As its heartbeat does: nothing new starts while the database does not reply. */
  noticeFreeze(): void {
    const { context } = this.#around
    const { engine, proc } = this
    context.world.after(silentMs, proc, () => {
      if (context.storeIsFrozen && engine?.store instanceof SimStore) engine.store.silent()
    })
  }

  /** As in a real shutdown: no new work, running work may end, then everything closes. */
  stop(): void {
    const { proc } = this
    const running = this.#running
    const { world } = this.#around.context
    if (running === undefined) return
    world.after(0, proc, () => {
      world.note('stops')
      running.engine.load.draining = true
      void this.#close(running, proc)
    })
  }

  async #close({ engine, stop }: RunningEngine, proc: Proc): Promise<void> {
    const { context } = this.#around
    const untilMs = performance.now() + maxDrainMs
    const isBusy = () => engine.load.running > 0 || engine.load.abandoned > 0
    while (isBusy() && performance.now() < untilMs) await Bun.sleep(20)
    await stop()
    context.kill(proc, 'stopped')
  }

  async #open(proc: Proc): Promise<void> {
    const { context, hub } = this.#around
    const store = new SimStore(context, proc, this.disk)
    this.cluster = undefined
    if (context.gateways > 1) {
      const cluster = new SimCluster(context, proc, store, hub)
      store.join(cluster)
      await cluster.join()
      this.cluster = cluster
    }
    await store.open()
    await store.keepClock()
    const running = await this.#create(store, proc)
    await running.start()
    context.world.note('is ready')
    this.#running = running
  }

  #create(store: SimStore, proc: Proc): Promise<RunningEngine> {
    const { upstreamWire, receivers, context, ownCalls } = this.#around
    const owner = store.cluster?.gatewayId ?? proc.name
    return createEngine({
      store,
      seal,
      log: logOf(context.world, proc),
      http: new SimHttp(upstreamWire, proc),
      limits,
      declared: { file: settings, ownSecrets: [] },
      publicUrl: 'http://gateway.test',
      ...(ownCalls !== undefined && { ownCalls }),
      owner,
      journal: new SimJournal(context, proc, this.#journals, owner),
      noticeFor: ({ id, state, requestId }) => JSON.stringify({ id, state, requestId }),
      post: receivers.postFrom(proc),
      services: context.parts.batches ? [...services, 'batch-runner'] : services,
    })
  }
}

/** Failures are part of the trace, without details that differ between machines. */
function logOf(world: World, proc: Proc): Log {
  const said =
    (level: string) =>
    (msg: string, fields: LogFields = {}) => {
      const { error } = fields
      const why = error instanceof Error ? `: ${error.message}` : ''
      if (proc.alive) world.note(`${level}: ${msg}${why}`, proc)
    }
  return { level: 'warn', debug() {}, info() {}, warn: said('warn'), error: said('error') }
}
