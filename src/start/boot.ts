// Opens the gateway's parts in order. Everything that varies is made here and passed down.
import { timingSafeEqual } from 'node:crypto'
import packageJson from '../../package.json'
import type { Sandbox } from '../../sandbox/server.ts'
import { OidcProvider } from '../admin/oidc/provider.ts'
import { createApp, type Handle } from '../app.ts'
import { VoidJournal } from '../billing/void-journal.ts'
import { type Config, ConfigError } from '../config/index.ts'
import type { LinkTo } from '../contract/caller-api.ts'
import type { Channel } from '../contract/catalog.ts'
import { channelFrom } from '../contract/config-schema/index.ts'
import type { ReloadOutcome } from '../contract/reload.ts'
import type { Task } from '../contract/task.ts'
import { loadSharedSecret } from '../engine/callbacks/callback-secret.ts'
import type { MadeToken } from '../engine/catalog/apply-declarations.ts'
import { firstToken } from '../engine/catalog/first-token.ts'
import { createEngine } from '../engine/create-engine.ts'
import type { Declared } from '../engine/declared.ts'
import type { Engine } from '../engine/engine.ts'
import { openMediaStorage } from '../engine/results/media-storage.ts'
import { Meters } from '../engine/telemetry/metrics/meters.ts'
import { Tracer } from '../engine/telemetry/traces/tracer.ts'
import { assets } from '../lib/assets.ts'
import { newSecret } from '../lib/crypto/ids.ts'
import { createSeal, markKeyOf, type Seal } from '../lib/crypto/seal.ts'
import { createHttpClient } from '../lib/http/client.ts'
import { createMailer } from '../lib/net/mailer.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Family } from '../lib/telemetry/metrics.ts'
import { SpanExporter } from '../lib/telemetry/span-exporter.ts'
import { gatewayOf, openStore, type Store, StoreRefused, withLock } from '../store/index.ts'
import { restoringKey } from '../store/maintenance/backup.ts'
import { getMeta, putMetaIfAbsent } from '../store/sql/meta.ts'
import { surfaces } from '../surfaces/index.ts'
import { applyFile } from './apply-file.ts'
import { type OwnKeys, secretsIn, takeBackMadeKey } from './keys.ts'
import { keepSettings } from './media-settings.ts'
import { type MetricsSource, metricsOf } from './metrics-route.ts'
import { ownCallsOf } from './own-calls.ts'

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

/** What the process knows and the settings do not. */
interface Surroundings {
  /** Base of every link that is given out. */
  publicUrl: string
  /** Base of links to the console. */
  consoleUrl: string
  /** A sandbox in another process. */
  sandbox?: OpenedSandbox
  /** The metrics of all processes, where this is one of several. */
  wholeMetrics?: () => Promise<readonly Family[] | undefined>
  /** Has all processes read the file again. */
  reload?: () => Promise<ReloadOutcome>
}

export async function boot(
  config: Config,
  keys: OwnKeys,
  log: Log,
  around: Surroundings,
): Promise<Gateway> {
  const seal = createSeal(keys.masterKey)
  const store = await openCheckedStore(config, keys, seal, log)
  const opened = around.sandbox ?? (await openSandboxFor(config))
  const { engine, start, stop } = await createEngine({
    ...settingsOf(config, store, log),
    store,
    log,
    seal,
    publicUrl: around.publicUrl,
    ownCalls: (made) => ownCallsOf(made, config.limits),
    declared: await declaredBy(config, keys, store, seal, opened),
  })
  const madeTokens = await withLock(store, async () => {
    const made = await applyFile(engine, config)
    const first = opened !== undefined && nothingReal(config) ? await firstToken(engine) : []
    return [...made, ...first]
  })
  await start()
  const metrics = metricsOf(engine, around.wholeMetrics)
  const close = async () => {
    await stop()
    await opened?.sandbox.stop()
  }
  const handlers = handlersOf(config, keys, engine, { metrics, ...around })
  return { engine, ...handlers, metrics, sandbox: opened?.sandbox, madeTokens, close }
}

/** Open, whole, of this key and currency, and watched for loss: what a gateway may work with. */
export async function openCheckedStore(
  config: Config,
  keys: OwnKeys,
  seal: Seal,
  log: Log,
): Promise<Store> {
  const store = await openOwnStore(config, keys, log)
  try {
    await checkWhole(store)
    const hasKey = await checkMasterKey(store, seal.hash('master key check'))
    if (!hasKey) throw takeBackMadeKey(config, keys) ?? new ConfigError(wrongMasterKey)
    for (const path of keys.torn ?? []) log.warn(`${path} had no content; a new one was made`)
    await store.watchLoss?.()
    await checkCurrency(store, config.file.currency)
    return store
  } catch (error) {
    await store.close().catch(() => {})
    const { code, message } = error as { code?: string; message: string }
    if (code?.startsWith('SQLITE_') !== true) throw error
    throw new StoreRefused(
      `the database in ${config.dataDir} cannot be used (${message}); check the disk and start again.`,
    )
  }
}

async function openOwnStore(config: Config, keys: OwnKeys, log: Log): Promise<Store> {
  try {
    return await openStore({
      dataDir: config.dataDir,
      ...(config.databaseUrl !== undefined && { databaseUrl: config.databaseUrl }),
      join: true,
      markKey: markKeyOf(keys.masterKey),
      log: (level, msg) => log[level](msg),
      died: (error) => exitBroken(error, log),
    })
  } catch (error) {
    // No later: from then on the database has adopted the key.
    takeBackMadeKey(config, keys)
    throw error
  }
}

/** EX_SOFTWARE: to be started again, which applies what the journal has. */
const broken = 70

/** Without the thread nothing can be written; a process that only refuses work would hide that. */
function exitBroken(error: Error, log: Log): void {
  log.error(`${error.message}; the gateway ends, so that it is started again`)
  process.exit(broken)
}

function handlersOf(
  config: Config,
  { adminToken }: OwnKeys,
  engine: Engine,
  { metrics, consoleUrl, reload }: Surroundings & { metrics: MetricsSource },
): Pick<Gateway, 'handle' | 'adminHandle'> {
  const deps = {
    engine,
    ...(config.metrics === 'on' && { metrics }),
    limits: config.limits,
    isAdmin: (secret: string) => sameText(secret, adminToken),
    configSchema: assets.configSchema,
    consoleUrl,
    ...(reload && { reload }),
    ...(config.oidc !== undefined && { oidc: new OidcProvider(config.oidc) }),
  }
  const handle = createApp({ ...deps, listener: config.admin === undefined ? 'only' : 'calls' })
  return { handle, adminHandle: config.admin && createApp({ ...deps, listener: 'admin' }) }
}

/** What the settings say about the engine. */
const settingsOf = (config: Config, store: Store, log: Log) => ({
  http: createHttpClient(),
  limits: config.limits,
  egressAllow: config.egressAllow,
  ...(config.redisUrl !== undefined && { redisUrl: config.redisUrl }),
  sharers: config.workers,
  ...(config.mail !== undefined && { mailer: createMailer(config.mail) }),
  missingForMail: config.missingForMail,
  journal: new VoidJournal({ dir: config.dataDir, owner: gatewayOf(store), log }),
  media: openMediaStorage(keepSettings(config.file.media, config.dataDir)),
  meters: new Meters(),
  ...(config.traces !== undefined && { tracer: tracerFor(config.traces, log) }),
  noticeFor: noticeOf,
})

async function declaredBy(
  config: Config,
  keys: OwnKeys,
  store: Store,
  seal: Seal,
  opened: OpenedSandbox | undefined,
): Promise<Declared> {
  const shared = await loadSharedSecret(store, seal, Date.now())
  const channel = opened && sandboxChannel(opened.sandbox, opened.key, config.file.region)
  return {
    file: config.file,
    ownSecrets: [...secretsIn(config, keys), ...(shared === undefined ? [] : [shared.secret])],
    ...(shared !== undefined && { sharedSecret: shared }),
    ...(channel && { sandbox: { channel, always: config.sandbox === 'on' } }),
  }
}

/** Loaded on demand: most gateways never run it. */
export async function openSandboxFor(config: Config): Promise<OpenedSandbox | undefined> {
  if (!wantsSandbox(config)) return undefined
  const { startSandbox } = await import('../../sandbox/server.ts')
  const key = newSecret('sandbox-')
  const readerToken = config.adminToken ?? key
  const taskSeconds = config.sandboxTaskSeconds
  return { key, sandbox: startSandbox({ taskSeconds, key, readerToken }) }
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

function tracerFor({ sampling, ...to }: NonNullable<Config['traces']>, log: Log): Tracer {
  const failed = (reason: string) => log.warn('span export failed', { reason })
  return new Tracer(new SpanExporter({ ...to, version: packageJson.version, failed }), sampling)
}

/** In the dialect of its create. */
function noticeOf(task: Task, linkTo: LinkTo): string | undefined {
  const notice = surfaces.find(({ name }) => name === task.interface)?.notice
  return notice && JSON.stringify(notice(task, linkTo))
}

/** An interrupted restore left an incomplete ledger. */
async function checkWhole(store: Store): Promise<void> {
  if ((await getMeta(store.read, restoringKey)) === undefined) return
  throw new ConfigError('a restore into this database was broken off; make it anew and restore.')
}

const wrongMasterKey =
  'GATEWAY_MASTER_KEY (or master.key in the data directory) is not the key this database was made with.'

/** With another master key the gateway could neither check a token nor decrypt a key. */
async function checkMasterKey(store: Store, check: string): Promise<boolean> {
  return check === (await store.tx((tx) => putMetaIfAbsent(tx, 'master_key_check', check)))
}

/** Amounts have no currency of their own: another one would change every balance. */
async function checkCurrency(store: Store, currency: string): Promise<void> {
  const stored = await store.tx((tx) => putMetaIfAbsent(tx, 'currency', currency))
  if (stored === currency) return
  throw new ConfigError(
    `currency is ${currency}, but the accounts of this database are in ${stored}.`,
  )
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
