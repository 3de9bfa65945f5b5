// Makes the engine and its background jobs, for the gateway, the tests and the simulation alike.
// Whatever differs between them is an option.

import { Ledger } from '../billing/ledger.ts'
import { noCosts } from '../billing/prices/cost-book.ts'
import { createPriceBook } from '../billing/prices/price-book.ts'
import { ReceiptWriter } from '../billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../billing/proof/signing-keys.ts'
import { createCatalog } from '../catalog/snapshot.ts'
import { TokenTable } from '../catalog/token-table.ts'
import type { LinkTo, RunOwnCall } from '../contract/caller-api.ts'
import type { HttpPort } from '../contract/http.ts'
import type { Task } from '../contract/task.ts'
import type { Clock } from '../lib/clock.ts'
import { newShortId } from '../lib/crypto/ids.ts'
import type { Seal } from '../lib/crypto/seal.ts'
import type { Service } from '../lib/loop.ts'
import type { Mailer } from '../lib/net/mailer.ts'
import { createCleaner } from '../lib/redact/index.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { providers } from '../providers/index.ts'
import type { Store } from '../store/index.ts'
import { freeLeases } from '../store/tasks/leases.ts'
import { Entitlements } from './admission/entitlements.ts'
import { createRateLimits } from './admission/limits/rate-limits.ts'
import { BatchRunner } from './batches/runner.ts'
import { Auditor } from './books/auditor.ts'
import { createLogKeeper } from './books/log-keeper.ts'
import { LossAlerts } from './books/loss-alerts.ts'
import { MarginWatch } from './books/margin-watch.ts'
import type { Post } from './callbacks/deliver.ts'
import { CallbackSender } from './callbacks/sender.ts'
import { Deadlines } from './calls/deadlines.ts'
import { PriceWatch } from './catalog/missing-prices.ts'
import { refresh, subscribeToChanges } from './catalog/refresh.ts'
import type { Declared } from './declared.ts'
import type { Engine, EngineLimits } from './engine.ts'
import type { Jobs } from './jobs.ts'
import { Conditions } from './notices/conditions.ts'
import { EmptyAccounts } from './notices/empty-accounts.ts'
import { LedgerFeeds } from './notices/ledger-feeds.ts'
import { NoticeSender } from './notices/sender.ts'
import { Subscriptions } from './notices/subscriptions.ts'
import { linksOf } from './results/file-links.ts'
import { MediaKeeper } from './results/keep-media.ts'
import type { MediaStorage } from './results/media-storage.ts'
import { Conversations } from './routing/affinity.ts'
import { RetryBudget } from './routing/retry-budget.ts'
import { WaitingRoom } from './routing/waiting-room.ts'
import { StatementPuller } from './statements/statement-puller.ts'
import { OwnResponses } from './tasks/own-responses.ts'
import { AbandonedChecks } from './tasks/poll/abandoned-checks.ts'
import { Poller } from './tasks/poll/poller.ts'
import { ClockWatch } from './telemetry/clock-watch.ts'
import { createLoopDelayMeter } from './telemetry/metrics/loop-delay.ts'
import type { Meters } from './telemetry/metrics/meters.ts'
import type { Tracer } from './telemetry/traces/tracer.ts'

interface EngineOptions {
  store: Store
  seal: Seal
  log: Log
  http: HttpPort
  limits: EngineLimits
  declared: Declared
  publicUrl: string
  /** Names this gateway in leases; absent: its name in the cluster, or a new one. */
  owner?: string
  /** Of durable times; absent: the store's. */
  clock?: Clock
  /** Of deadlines; absent: the process's. */
  monotonicMs?: () => number
  random?: () => number
  /** Holds that are void although the store does not know it yet. */
  journal?: Parameters<typeof Ledger.open>[1]
  egressAllow?: readonly string[]
  redisUrl?: string
  /** Processes that share the limits of a token. */
  sharers?: number
  media?: MediaStorage
  meters?: Meters
  tracer?: Tracer
  /** Builds the callback for a task's end in its dialect; undefined where there is none. */
  noticeFor?: (task: Task, linkTo: LinkTo) => string | undefined
  /** Sends callbacks and notices; absent: over HTTP. */
  post?: Post
  mailer?: Mailer
  /** Settings without which no e-mail is sent. */
  missingForMail?: readonly string[]
  /** The interfaces, for calls that the gateway makes itself; absent: it makes none. */
  ownCalls?: (engine: Engine) => RunOwnCall
  /** Names of the services that run; absent: all. */
  services?: readonly string[]
}

export interface RunningEngine {
  readonly engine: Engine
  /** Puts what is stored in force, then starts the services. */
  start(): Promise<void>
  /** Stops the services and closes the store. */
  stop(): Promise<void>
}

export async function createEngine(options: EngineOptions): Promise<RunningEngine> {
  const { store, log, seal } = options
  const owner = options.owner ?? store.cluster?.gatewayId ?? newShortId('gwy')
  const ledger = await Ledger.open(store, options.journal, options.clock?.nowMs)
  const receiptWriter = new ReceiptWriter(store, await loadSigningKeys(store, seal), log)
  ledger.onEntry = (accountId) => receiptWriter.recorded(accountId)
  const engine: Engine = {
    ...partsOf(options, owner),
    ledger,
    receiptWriter,
    runOwnCall: (call) => run(call),
    // The jobs work with the engine, and the engine wakes the jobs.
    get jobs() {
      return made.jobs
    },
  }
  const run = options.ownCalls?.(engine) ?? noInterfaces
  const made = jobsOf(engine, owner, options)
  const services = made.services.filter(({ name }) => options.services?.includes(name) ?? true)
  return {
    engine,
    async start() {
      // No other process can have this store open: the lease holders are gone. Before the first call.
      if (store.cluster === undefined) await store.tx((tx) => freeLeases(tx))
      subscribeToChanges(engine)
      await refresh(engine)
      for (const service of services.toReversed()) await service.start()
    },
    async stop() {
      for (const service of services) await service.stop()
      engine.deadlines.close()
      engine.rates.close()
      ledger.close()
      await engine.tracer?.close()
      await store.close()
    },
  }
}

const noInterfaces: RunOwnCall = async () => {
  throw new Error('this engine has no interfaces')
}

/** Everything but the books and the jobs. */
function partsOf(options: EngineOptions, owner: string) {
  const { store, log, declared, limits, redisUrl, media, meters, tracer } = options
  const { clock = store.clock, random = Math.random, egressAllow = [] } = options
  const { nowMs } = clock
  return {
    ...{ store, log, clock, random, limits, declared, egressAllow, providers },
    seal: options.seal,
    http: options.http,
    publicUrl: options.publicUrl,
    deadlines: new Deadlines(options.monotonicMs ?? (() => performance.now())),
    ...nothingOffered(declared, nowMs),
    knownSecrets: new Map(),
    entitlements: new Entitlements(nowMs),
    subscriptions: new Subscriptions(),
    routing: {
      states: new Map(),
      retries: new RetryBudget(),
      conversations: new Conversations(clock),
      waiting: new WaitingRoom(limits),
    },
    rates: createRateLimits({
      ...(redisUrl !== undefined && { redisUrl }),
      ...(options.sharers !== undefined && { sharers: options.sharers }),
      ...{ nowMs, log, instanceId: owner },
    }),
    ...(options.mailer !== undefined && { mailer: options.mailer }),
    missingForMail: options.missingForMail ?? [],
    ...(media !== undefined && { media }),
    ...(meters !== undefined && { meters }),
    ...(tracer !== undefined && { tracer }),
    creating: new Set<string>(),
    load: { abandoned: 0, running: 0, lowPriority: 0, draining: false },
  }
}

/** Before the first refresh. */
const nothingOffered = ({ file: { region } }: Declared, nowMs: () => number) => ({
  catalog: createCatalog({
    region,
    models: [],
    channels: [],
    tokens: new TokenTable(),
    isPriced: () => false,
  }),
  prices: createPriceBook([], new Set(), nowMs),
  costs: noCosts(nowMs),
  cleaner: createCleaner([]),
})

/**
 * Makes the background jobs. They stop in this order and start in the reverse one: what a job
 * relies on stops after it.
 */
function jobsOf(
  engine: Engine,
  owner: string,
  options: EngineOptions,
): { jobs: Jobs; services: Service[] } {
  const { log, meters, media, receiptWriter } = engine
  const { post } = options
  const poller = new Poller(engine, owner)
  const callbacks = callbacksOf(engine, owner, options)
  const batches = new BatchRunner(engine, owner)
  const abandonedChecks = new AbandonedChecks(engine)
  const lossAlerts = new LossAlerts(engine)
  const [priceWatch, clockWatch] = [new PriceWatch(engine), new ClockWatch(engine)]
  const mediaKeeper = media && new MediaKeeper(engine, media)
  const notices = noticeJobsOf(engine, owner, post)
  if (meters !== undefined) meters.isModel = (name) => engine.catalog.models.has(name)
  const services = [
    meters && createLoopDelayMeter(meters.loopDelay, log),
    createLogKeeper(engine),
    priceWatch,
    clockWatch,
    batches,
    poller,
    callbacks,
    abandonedChecks,
    new Auditor(engine),
    mediaKeeper,
    lossAlerts,
    ...notices.services,
    receiptWriter,
  ].filter((service) => service !== undefined)
  const jobs = {
    ...{ poller, callbacks, batches, abandonedChecks, lossAlerts, priceWatch, clockWatch },
    ownResponses: new OwnResponses(engine),
    ...notices.jobs,
    ...(mediaKeeper !== undefined && { mediaKeeper }),
  }
  return { jobs, services }
}

function callbacksOf(engine: Engine, owner: string, { noticeFor, post }: EngineOptions) {
  return new CallbackSender(engine, owner, {
    noticeFor: (task) => noticeFor?.(task, linksOf(engine)),
    ...(post !== undefined && { post }),
  })
}

/** What looks for something to tell operators, and what sends it. */
function noticeJobsOf(engine: Engine, owner: string, post: Post | undefined) {
  const notices = new NoticeSender(engine, owner, post)
  const ledgerFeeds = new LedgerFeeds(engine)
  const conditions = new Conditions(engine, owner)
  engine.subscriptions.onChange = () => {
    ledgerFeeds.wake()
    conditions.wake()
  }
  return {
    jobs: { notices, conditions, emptyAccounts: new EmptyAccounts(engine) },
    services: [
      conditions,
      ledgerFeeds,
      new MarginWatch(engine),
      new StatementPuller(engine),
      notices,
    ],
  }
}
