// One gateway of a world: the real engine over the simulated store and wire, in a process that dies and
// restarts. It starts as the real one does, without the HTTP listener.

import { Ledger } from '../../src/billing/ledger.ts'
import { createPriceBook } from '../../src/billing/prices/price-book.ts'
import { ReceiptWriter } from '../../src/billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../../src/billing/proof/signing-keys.ts'
import { createCatalog } from '../../src/catalog/snapshot.ts'
import { Entitlements } from '../../src/engine/admission/entitlements.ts'
import { createRateLimits } from '../../src/engine/admission/limits/rate-limits.ts'
import { Auditor } from '../../src/engine/books/auditor.ts'
import { CallbackSender } from '../../src/engine/callbacks/sender.ts'
import { Deadlines } from '../../src/engine/calls/deadlines.ts'
import { stopWatchingPrices } from '../../src/engine/catalog/missing-prices.ts'
import { refresh, subscribeToChanges } from '../../src/engine/catalog/refresh.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { RetryBudget } from '../../src/engine/routing/retry-budget.ts'
import { WaitingRoom } from '../../src/engine/routing/waiting-room.ts'
import { AbandonedChecks } from '../../src/engine/tasks/poll/abandoned-checks.ts'
import { Poller } from '../../src/engine/tasks/poll/poller.ts'
import { createSeal } from '../../src/lib/crypto/seal.ts'
import { createCleaner } from '../../src/lib/redact/index.ts'
import type { Log, LogFields } from '../../src/lib/telemetry/log.ts'
import { providers } from '../../src/providers/index.ts'
import { freeLeases } from '../../src/store/tasks/leases.ts'
import type { Receivers } from '../callers/receivers.ts'
import type { UpstreamWire } from '../upstream/messages.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'
import { settings } from '../world/settings.ts'
import type { World } from '../world/world.ts'
import { type Hub, SimCluster } from './cluster.ts'
import { SimHttp } from './http.ts'
import { type JournalDir, SimJournal } from './journal.ts'
import { SimStore } from './store.ts'

const limits = {
  abandonedStreams: 4,
  abandonedMs: 5_000,
  tokenCacheEntries: 10,
  queuedCalls: 50,
  queueMs: 2_000,
}
const seal = createSeal(new Uint8Array(32).fill(3))
const startFailedMs = 1_000
const maxDrainMs = 5_000
/** As in the heartbeat of the PostgreSQL store. */
const silentMs = 600

export interface Surroundings {
  context: SimContext
  upstreamWire: UpstreamWire
  receivers: Receivers
  hub: Hub
}

export class SimGateway {
  readonly name: string
  readonly #around: Surroundings
  #starts = 0
  readonly #journals: JournalDir = new Map()
  proc: Proc
  engine: Engine | undefined
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

  start(): void {
    const { context } = this.#around
    const { world, random } = context
    const skewMs = this.proc.skewMs
    this.proc = world.newProc(`${this.name}.${++this.#starts}`)
    this.proc.skewMs = skewMs
    this.engine = undefined
    const proc = this.proc
    proc.onDeath.add(() => {
      this.engine = undefined
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
    const { engine, proc } = this
    const { world } = this.#around.context
    if (engine === undefined) return
    world.after(0, proc, () => {
      world.note('stops')
      engine.draining = true
      void this.#close(engine, proc)
    })
  }

  async #close(engine: Engine, proc: Proc): Promise<void> {
    const { context } = this.#around
    const untilMs = performance.now() + maxDrainMs
    const isBusy = () => engine.running > 0 || engine.abandoned > 0
    while (isBusy() && performance.now() < untilMs) await Bun.sleep(20)
    stopWatchingPrices(engine)
    await engine.poller.close()
    await engine.callbacks.close()
    await engine.abandonedChecks?.close()
    await engine.auditor?.close()
    engine.deadlines.close()
    engine.rates.close()
    engine.ledger.close()
    await engine.receiptWriter.stop()
    await engine.store.close()
    context.kill(proc, 'stopped')
  }

  async #open(proc: Proc): Promise<void> {
    const { context, hub } = this.#around
    const store = new SimStore(context, proc)
    this.cluster = undefined
    if (context.gateways > 1) {
      const cluster = new SimCluster(context, proc, store, hub)
      store.join(cluster)
      await cluster.join()
      this.cluster = cluster
    }
    await store.keepClock()
    const engine = await this.#engine(store, proc)
    if (store.cluster === undefined) await store.tx((tx) => freeLeases(tx))
    subscribeToChanges(engine)
    await refresh(engine)
    engine.receiptWriter.start()
    engine.poller.start(engine)
    await engine.callbacks.start(engine)
    engine.abandonedChecks?.start(engine)
    engine.auditor?.start(engine)
    context.world.note('is ready')
    this.engine = engine
  }

  async #engine(store: SimStore, proc: Proc): Promise<Engine> {
    const { upstreamWire, receivers, context } = this.#around
    const { nowMs } = store.clock
    const owner = store.cluster?.gatewayId ?? proc.name
    const log = logOf(context.world, proc)
    const journal = new SimJournal(context, proc, this.#journals, owner)
    const ledger = await Ledger.open(store, journal)
    const receiptWriter = new ReceiptWriter(store, await loadSigningKeys(store, seal), log)
    ledger.onEntry = () => receiptWriter.recorded()
    return {
      store,
      ledger,
      receiptWriter,
      seal,
      log,
      providers,
      clock: store.clock,
      random: Math.random,
      http: new SimHttp(upstreamWire, proc),
      limits,
      deadlines: new Deadlines(() => performance.now()),
      declared: { file: settings, ownSecrets: [] },
      ...emptyCatalog(nowMs),
      entitlements: new Entitlements(nowMs),
      retries: new RetryBudget(),
      waiting: new WaitingRoom(limits),
      poller: new Poller(owner),
      callbacks: new CallbackSender(owner, undefined, { post: receivers.postFrom(proc) }),
      abandonedChecks: new AbandonedChecks(),
      auditor: new Auditor(),
      noticeFor: ({ id, state, requestId }) => JSON.stringify({ id, state, requestId }),
      durations: new Map(),
      creating: new Set(),
      publicUrl: 'http://gateway.test',
      egressAllow: [],
      rates: createRateLimits({ nowMs, log, instanceId: owner }),
      ...{ abandoned: 0, running: 0, draining: false },
    }
  }
}

/** Before the first refresh. */
const emptyCatalog = (nowMs: () => number) => ({
  catalog: createCatalog({
    region: settings.region,
    models: [],
    channels: [],
    tokens: new Map(),
    isPriced: () => false,
  }),
  prices: createPriceBook([], new Set(), nowMs),
  cleaner: createCleaner([]),
  knownSecrets: new Map(),
  channelStates: new Map(),
})

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
