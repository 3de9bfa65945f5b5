// One gateway in this process, from the port to the last answer: listens, opens the parts, reloads
// and drains. Does not know whether it is the only process or one of several workers.
import { newSetupCode } from '../admin/people/set-up.ts'
import { type Handle, refuseUnrouted } from '../app.ts'
import { type Config, ConfigError } from '../config/index.ts'
import { refuse } from '../contract/errors.ts'
import type { ReloadOutcome } from '../contract/reload.ts'
import { DeclarationRefused, type MadeToken } from '../engine/catalog/apply-declarations.ts'
import { announce } from '../engine/catalog/refresh.ts'
import { armCrashPoint } from '../lib/crash-point.ts'
import { createCleaner } from '../lib/redact/index.ts'
import { createLog, type Log } from '../lib/telemetry/log.ts'
import type { Family } from '../lib/telemetry/metrics.ts'
import { StoreRefused, withLock } from '../store/index.ts'
import { applyFile } from './apply-file.ts'
import type { Banner } from './banner.ts'
import { boot, type Gateway, type OpenedSandbox } from './boot.ts'
import { Descriptors } from './descriptors.ts'
import { allSecretsIn, loadKeys, type OwnKeys } from './keys.ts'
import { listen } from './listen.ts'
import { metricsText } from './metrics-route.ts'

export interface Served {
  readonly port: number
  /** Of the listener for administration, where there is one. */
  readonly adminPort?: number
  readonly banner: Banner
  readonly log: Log
  /** The metrics of this process. */
  metrics(): Promise<Family[]>
  /** Applies another file; throws when that fails. */
  reload(next: Config): Promise<readonly MadeToken[]>
  /** Takes no new work; resolves when all work has ended and the store is closed. */
  drain(): Promise<void>
  /** Ends what a drain still waits for, with an error that callers can read. */
  hurry(): void
}

interface ServeOptions {
  /**
   * The port is shared with other processes of the same gateway, which can serve meanwhile: it
   * opens last, when this resolves.
   */
  mayListen?: () => Promise<void>
  sandbox?: OpenedSandbox
  /** The metrics of all processes of the gateway. */
  wholeMetrics?: () => Promise<readonly Family[] | undefined>
  /** Has all processes of the gateway read the file again. */
  reload?: () => Promise<ReloadOutcome>
}

/** Errors that are printed as one sentence for the operator. */
export const isRefusedStart = (error: unknown): error is Error =>
  [ConfigError, StoreRefused, DeclarationRefused].some((kind) => error instanceof kind)

export async function serve(config: Config, how: ServeOptions = {}): Promise<Served> {
  // All written files hold secrets or money: for this user only.
  process.umask(0o077)
  let gateway: Gateway | undefined
  const { mayListen } = how
  const descriptors = new Descriptors()
  const open = () => openPorts(config, mayListen !== undefined, () => gateway, descriptors)
  // The port comes first: a start that fails must not generate secrets that are shown once.
  const first = mayListen === undefined ? open() : undefined
  armCrashPoint(config.crashAt)
  const keys = loadKeys(config)
  const log = logFor(config, keys, () => gateway)
  const publicUrl = config.publicUrl ?? `http://localhost:${first?.calls.port ?? config.port}`
  const consoleUrl = consoleUrlOf(config, publicUrl, first?.admin?.port)
  gateway = await boot(config, keys, log, { ...how, publicUrl, consoleUrl })
  const { engine, sandbox, madeTokens } = gateway
  const setupCode = await newSetupCode(engine)
  await mayListen?.()
  const ports = first ?? open()
  descriptors.watch({ log, servers: serversOf(ports) })
  const opened = gateway
  let drained: Promise<void> | undefined
  const hurried = Promise.withResolvers<void>()
  return {
    port: ports.calls.port!,
    ...(ports.admin !== undefined && { adminPort: ports.admin.port! }),
    banner: {
      url: publicUrl,
      ...(consoleUrl !== publicUrl && { adminUrl: consoleUrl }),
      data: config.databaseUrl === undefined ? config.dataDir : 'PostgreSQL',
      tokens: madeTokens,
      ...(sandbox !== undefined && { sandbox: sandbox.url }),
      ...(keys.adminTokenIsNew && { adminToken: keys.adminToken }),
      ...(setupCode !== undefined && { setupCode }),
    },
    log,
    metrics: () => opened.metrics.own(),
    reload: (next) => reload(next, opened),
    drain() {
      const untilMs = config.limits.drainMs
      drained ??= drain(opened, ports, Promise.race([hurried.promise, Bun.sleep(untilMs)]))
      return drained
    },
    hurry: hurried.resolve,
  }
}

/** The console is on the admin listener, where there is one. */
const consoleUrlOf = (config: Config, publicUrl: string, adminPort = config.admin?.port): string =>
  config.consoleUrl ?? (adminPort === undefined ? publicUrl : `http://localhost:${adminPort}`)

/** Uncaught errors must not end the process: it serves other callers' streams. */
function logFor(config: Config, keys: OwnKeys, gateway: () => Gateway | undefined): Log {
  // Until the gateway knows more: the secrets of the settings.
  const first = createCleaner(allSecretsIn(config, keys))
  const log = openLog(config, (line) => (gateway()?.engine.cleaner ?? first).cleanLine(line))
  process.on('unhandledRejection', (error) => log.error('unhandled rejection', { error }))
  process.on('uncaughtException', (error) => log.error('uncaught exception', { error }))
  return log
}

export const openLog = (config: Config, clean: (line: string) => string): Log =>
  createLog({
    level: config.logLevel,
    pretty: process.stderr.isTTY === true,
    write: (line) => process.stderr.write(line),
    clean,
  })

const answerStarting: Handle = (request, connection) =>
  refuseUnrouted(
    request,
    connection,
    refuse('overloaded', 'the gateway is starting', { retryAfterSeconds: 1 }),
  )

type Port = ReturnType<typeof listen>

interface Ports {
  calls: Port
  /** Set where administration has a port of its own. */
  admin?: Port
  /** Set where metrics have a port of their own. */
  metrics?: Port
}

const serversOf = ({ calls, admin }: Ports): Port[] =>
  admin === undefined ? [calls] : [calls, admin]

function openPorts(
  config: Config,
  isShared: boolean,
  gateway: () => Gateway | undefined,
  descriptors: Descriptors,
): Ports {
  const guarded = () => descriptors.guard(gateway()?.handle ?? answerStarting)
  const calls = listen(config, isShared, guarded)
  const answer = () => gateway()?.adminHandle ?? answerStarting
  const admin =
    config.admin && listen({ ...config, ...config.admin }, isShared, answer, adminSetting)
  const metrics = listenForMetrics(config, isShared, gateway)
  return { calls, ...(admin && { admin }), ...(metrics && { metrics }) }
}

export const adminSetting = 'GATEWAY_ADMIN_PORT/GATEWAY_ADMIN_HOST'

/** A separate port, where the settings name one; it serves nothing else. */
function listenForMetrics(config: Config, sharesPort: boolean, gateway: () => Gateway | undefined) {
  const { metrics } = config
  if (typeof metrics === 'string') return undefined
  const answer: Handle = async (request) => {
    const source = gateway()?.metrics
    if (new URL(request.url, 'http://x').pathname !== '/metrics') {
      return new Response('there is /metrics here, and nothing else\n', { status: 404 })
    }
    if (source === undefined) return new Response('starting\n', { status: 503 })
    const { status, type, body } = await metricsText(source, request.headers.get('accept'))
    return new Response(body, { status, headers: { 'content-type': type } })
  }
  return listen({ ...config, ...metrics }, sharesPort, () => answer, 'GATEWAY_METRICS')
}

async function reload(next: Config, { engine }: Gateway): Promise<readonly MadeToken[]> {
  const made = await withLock(engine.store, () => applyFile(engine, next))
  engine.declared = { ...engine.declared, file: next.file }
  await announce(engine, 'all')
  return made
}

/** Time for callers to read the error that ends their stream. */
const endingMs = 2_000

/** No new work, running answers end properly; those that are still there after `enough` with an error. */
async function drain(
  { engine, close }: Gateway,
  ports: Ports,
  enough: Promise<void>,
): Promise<void> {
  engine.load.draining = true
  engine.log.info('draining', { running: engine.load.running })
  const servers = serversOf(ports)
  const ended = Promise.all(servers.map((server) => server.stop()))
  // Downloads are no calls, but answers in flight.
  const busy = () =>
    engine.load.running > 0 ||
    engine.load.abandoned > 0 ||
    servers.some(({ pendingRequests }) => pendingRequests > 0)
  if (!(await isQuiet(busy, enough))) {
    engine.deadlines.stopAll()
    await isQuiet(busy, Bun.sleep(endingMs))
  }
  await Promise.race([ended, Bun.sleep(1_000)])
  await Promise.all(servers.map((server) => server.stop(true)))
  await close()
  await ports.metrics?.stop(true)
}

/** False when it did not end in time. */
async function isQuiet(busy: () => boolean, enough: Promise<void>): Promise<boolean> {
  let isEnough = false
  void enough.then(() => {
    isEnough = true
  })
  while (busy() && !isEnough) await Bun.sleep(20)
  return !busy()
}
