// Opens the gateway's parts in order. Everything that varies is made here and passed down.
import { timingSafeEqual } from 'node:crypto'
import packageJson from '../../package.json'
import type { Sandbox } from '../../sandbox/server.ts'
import { exportSources } from '../admin/system/export-sources.ts'
import { createApp, type Handle } from '../app.ts'
import { Ledger } from '../billing/ledger.ts'
import { createPriceBook } from '../billing/prices/price-book.ts'
import { ReceiptWriter } from '../billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../billing/proof/signing-keys.ts'
import { VoidJournal } from '../billing/void-journal.ts'
import { createCatalog } from '../catalog/snapshot.ts'
import { type Config, ConfigError } from '../config/index.ts'
import type { Channel } from '../contract/catalog.ts'
import { channelFrom } from '../contract/config-schema/index.ts'
import type { Task } from '../contract/task.ts'
import { Entitlements } from '../engine/admission/entitlements.ts'
import { createRateLimits } from '../engine/admission/limits/rate-limits.ts'
import { Auditor } from '../engine/books/auditor.ts'
import { Exporter } from '../engine/books/exports/exporter.ts'
import { LogKeeper } from '../engine/books/log-keeper.ts'
import { closeLossAlerts } from '../engine/books/loss-alerts.ts'
import { loadSharedSecret, type SharedSecret } from '../engine/callbacks/callback-secret.ts'
import { CallbackSender } from '../engine/callbacks/sender.ts'
import { Deadlines } from '../engine/calls/deadlines.ts'
import { applyDeclarations, type MadeToken } from '../engine/catalog/apply-declarations.ts'
import { firstToken } from '../engine/catalog/first-token.ts'
import { stopWatchingPrices } from '../engine/catalog/missing-prices.ts'
import { refresh, subscribeToChanges } from '../engine/catalog/refresh.ts'
import type { Engine } from '../engine/engine.ts'
import { linksOf } from '../engine/results/file-links.ts'
import { MediaKeeper } from '../engine/results/keep-media.ts'
import { RetryBudget } from '../engine/routing/retry-budget.ts'
import { WaitingRoom } from '../engine/routing/waiting-room.ts'
import { AbandonedChecks } from '../engine/tasks/poll/abandoned-checks.ts'
import { Poller } from '../engine/tasks/poll/poller.ts'
import { ClockWatch } from '../engine/telemetry/clock-watch.ts'
import { watchLoop } from '../engine/telemetry/metrics/loop-delay.ts'
import { Meters } from '../engine/telemetry/metrics/meters.ts'
import { Tracer } from '../engine/telemetry/traces/tracer.ts'
import { assets } from '../lib/assets.ts'
import { newSecret, newShortId } from '../lib/crypto/ids.ts'
import { createSeal, markKeyOf } from '../lib/crypto/seal.ts'
import { createHttpClient } from '../lib/http/client.ts'
import { createCleaner } from '../lib/redact/index.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Family } from '../lib/telemetry/metrics.ts'
import { SpanExporter } from '../lib/telemetry/span-exporter.ts'
import { providers } from '../providers/index.ts'
import { openStore, type Store, withLock } from '../store/index.ts'
import { restoringKey } from '../store/maintenance/backup.ts'
import { getMeta, putMetaIfAbsent } from '../store/sql/meta.ts'
import { freeLeases } from '../store/tasks/leases.ts'
import { surfaces } from '../surfaces/index.ts'
import { type OwnKeys, secretsIn } from './keys.ts'
import { keepSettings } from './media-settings.ts'
import { type MetricsSource, metricsOf } from './metrics-route.ts'

export interface Gateway {
  engine: Engine
  /** The handler of the callers' port. */
  handle: Handle
  /** The handler of the administration port, where there is one. */
  adminHandle: Handle | undefined
  metrics: MetricsSource
  sandbox: Sandbox | undefined
  madeTokens: readonly MadeToken[]
  close(): Promise<void>
}

/** A sandbox and the one credential it takes. */
export interface OpenedSandbox {
  sandbox: Sandbox
  key: string
}

/** Set where this is one of several processes. */
interface Surroundings {
  /** A sandbox in another process. */
  sandbox?: OpenedSandbox
  /** The metrics of all of them. */
  wholeMetrics?: () => Promise<readonly Family[] | undefined>
}

export async function boot(
  config: Config,
  keys: OwnKeys,
  log: Log,
  around: Surroundings = {},
): Promise<Gateway> {
  const store = await openStore({
    dataDir: config.dataDir,
    ...(config.databaseUrl !== undefined && { databaseUrl: config.databaseUrl }),
    join: true,
    markKey: markKeyOf(keys.masterKey),
    log: (level, msg) => log[level](msg),
  })
  await checkWhole(store)
  const seal = createSeal(keys.masterKey)
  await checkMasterKey(store, seal.hash('master key check'))
  await store.watchLoss?.()
  await checkCurrency(store, config.file.currency)
  const { sandbox, key: sandboxKey = '' } = around.sandbox ?? (await openSandboxFor(config)) ?? {}
  const shared = await loadSharedSecret(store, seal, Date.now())
  const owner = store.cluster?.gatewayId ?? 'this'
  const ledger = await Ledger.open(store, new VoidJournal({ dir: config.dataDir, owner, log }))
  const receiptWriter = new ReceiptWriter(store, await loadSigningKeys(store, seal), log)
  ledger.onEntry = () => receiptWriter.recorded()
  const engine = newEngine(config, log, store, { ledger, receiptWriter }, seal, shared)
  engine.noticeFor = (task) => noticeOf(engine, task)
  if (engine.meters) engine.meters.isModel = (name) => engine.catalog.models.has(name)
  engine.declared = {
    file: config.file,
    ownSecrets: [...secretsIn(config, keys), ...(shared === undefined ? [] : [shared.secret])],
    ...(sandbox !== undefined && {
      sandbox: {
        channel: sandboxChannel(sandbox, sandboxKey, config.file.region),
        always: config.sandbox === 'on',
      },
    }),
  }
  const madeTokens = await withLock(store, async () => {
    const made = await applyDeclarations(engine, config.file)
    const first = sandbox !== undefined && nothingReal(config) ? await firstToken(engine) : []
    return [...made, ...first]
  })
  // No other process can have this store open: the lease holders are gone. Before the first call.
  if (store.cluster === undefined) await store.tx((tx) => freeLeases(tx))
  subscribeToChanges(engine)
  await refresh(engine)
  receiptWriter.start()
  const logKeeper = new LogKeeper(engine)
  logKeeper.start()
  const metrics = metricsOf(engine, around.wholeMetrics)
  const deps = {
    engine,
    ...(config.metrics === 'on' && { metrics }),
    limits: config.limits,
    isAdmin: (secret: string) => sameText(secret, keys.adminToken),
    configSchema: assets.configSchema,
  }
  const handle = createApp({ ...deps, listener: config.admin === undefined ? 'only' : 'calls' })
  const adminHandle = config.admin && createApp({ ...deps, listener: 'admin' })
  const unwatch = watchLoop(engine.meters!.loopDelay)
  const close = async () => {
    unwatch()
    await logKeeper.close()
    await closeAll(engine, sandbox)
  }
  return { engine, handle, adminHandle, metrics, sandbox, madeTokens, close }
}

/** Loaded on demand: most gateways never run it. */
export async function openSandboxFor(config: Config): Promise<OpenedSandbox | undefined> {
  if (!wantsSandbox(config)) return undefined
  const { startSandbox } = await import('../../sandbox/server.ts')
  const key = newSecret('sandbox-')
  return { key, sandbox: startSandbox({ taskSeconds: config.sandboxTaskSeconds, key }) }
}

async function closeAll(engine: Engine, sandbox: Sandbox | undefined): Promise<void> {
  stopWatchingPrices(engine)
  engine.clockWatch?.close()
  await engine.poller.close()
  await engine.callbacks.close()
  await engine.abandonedChecks?.close()
  await engine.auditor?.close()
  await engine.exporter?.close()
  await engine.media?.close()
  engine.deadlines.close()
  engine.rates.close()
  engine.ledger.close()
  await closeLossAlerts(engine)
  await engine.receiptWriter.stop()
  await engine.tracer?.close()
  await sandbox?.stop()
  await engine.store.close()
}

/** Credit that the gateway itself creates must never reach a real upstream. */
const nothingReal = ({ file }: Config): boolean =>
  file.tokens.length === 0 && file.channels.length === 0

const wantsSandbox = ({ sandbox, file }: Config): boolean =>
  sandbox === 'on' || (sandbox === 'auto' && file.channels.length === 0)

/** Real channels come first: the sandbox serves only what they do not. */
function sandboxChannel(sandbox: Sandbox, key: string, region: string): Channel {
  const declared = {
    name: 'sandbox',
    keys: [key],
    protocols: sandbox.protocols,
    models: { '*': '*' },
    priority: -1_000_000,
    max_concurrency: 100_000,
  }
  return channelFrom(declared, { id: 'sandbox', source: 'builtin', region })
}

function newEngine(
  config: Config,
  log: Log,
  store: Store,
  books: Pick<Engine, 'ledger' | 'receiptWriter'>,
  seal: ReturnType<typeof createSeal>,
  shared: SharedSecret | undefined,
): Engine {
  const instanceId = store.cluster?.gatewayId ?? newShortId('gwy')
  return {
    store,
    ...books,
    seal,
    log,
    providers,
    clock: store.clock,
    random: Math.random,
    http: createHttpClient(),
    limits: config.limits,
    deadlines: new Deadlines(() => performance.now()),
    declared: { file: config.file, ownSecrets: [] },
    catalog: createCatalog({
      region: config.file.region,
      models: [],
      channels: [],
      tokens: new Map(),
      isPriced: () => false,
    }),
    prices: createPriceBook([], new Set(), store.clock.nowMs),
    cleaner: createCleaner([]),
    knownSecrets: new Map(),
    channelStates: new Map(),
    entitlements: new Entitlements(store.clock.nowMs),
    retries: new RetryBudget(),
    waiting: new WaitingRoom(config.limits),
    poller: new Poller(instanceId),
    callbacks: new CallbackSender(instanceId, shared),
    abandonedChecks: new AbandonedChecks(),
    auditor: new Auditor(),
    clockWatch: new ClockWatch(),
    exporter: new Exporter(exportSources),
    meters: new Meters(),
    ...(config.traces !== undefined && { tracer: tracerFor(config.traces, log) }),
    noticeFor: () => undefined,
    media: new MediaKeeper(keepSettings(config.file.media, config.dataDir)),
    durations: new Map(),
    creating: new Set(),
    publicUrl: config.publicUrl ?? '',
    egressAllow: config.egressAllow,
    rates: createRateLimits({
      ...(config.redisUrl !== undefined && { redisUrl: config.redisUrl }),
      nowMs: store.clock.nowMs,
      log,
      instanceId,
      sharers: config.workers,
    }),
    abandoned: 0,
    running: 0,
    draining: false,
  }
}

function tracerFor({ sampling, ...to }: NonNullable<Config['traces']>, log: Log): Tracer {
  const failed = (reason: string) => log.warn('span export failed', { reason })
  return new Tracer(new SpanExporter({ ...to, version: packageJson.version, failed }), sampling)
}

/** In the dialect of its create. */
function noticeOf(engine: Engine, task: Task): string | undefined {
  const notice = surfaces.find(({ name }) => name === task.interface)?.notice
  return notice && JSON.stringify(notice(task, linksOf(engine)))
}

/** An interrupted restore left an incomplete ledger. */
async function checkWhole(store: Store): Promise<void> {
  if ((await getMeta(store.read, restoringKey)) === undefined) return
  await store.close()
  throw new ConfigError('a restore into this database was broken off; make it anew and restore.')
}

export class WrongMasterKey extends ConfigError {}

/** With another master key the gateway could neither check a token nor decrypt a key. */
async function checkMasterKey(store: Store, check: string): Promise<void> {
  const stored = await store.tx((tx) => putMetaIfAbsent(tx, 'master_key_check', check))
  if (stored === check) return
  await store.close()
  throw new WrongMasterKey(
    'GATEWAY_MASTER_KEY (or master.key in the data directory) is not the key this database was made with.',
  )
}

/** Amounts have no currency of their own: another one would change every balance. */
async function checkCurrency(store: Store, currency: string): Promise<void> {
  const stored = await store.tx((tx) => putMetaIfAbsent(tx, 'currency', currency))
  if (stored === currency) return
  await store.close()
  throw new ConfigError(
    `currency is ${currency}, but the accounts of this database are in ${stored}.`,
  )
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
