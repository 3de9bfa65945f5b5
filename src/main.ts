// Boot in order, shut down in reverse. A wrong setting ends the start with one sentence and code 78.
import type { Handle } from './app.ts'
import { boot, type Gateway } from './boot.ts'
import { type Config, ConfigError, loadConfig, reloadFile, unknownVariables } from './config.ts'
import { refuse } from './contract/errors.ts'
import { applyDeclarations, DeclarationRefused } from './engine/apply-declarations.ts'
import { announce } from './engine/refresh.ts'
import { type Connection, newExchange } from './http/exchange.ts'
import { answerRefusal } from './http/render-error.ts'
import { loadKeys } from './keys.ts'
import { armCrashPoint } from './lib/crash-point.ts'
import { createLog, type Log } from './lib/log.ts'
import { alone, StoreRefused } from './store/index.ts'
import { welcomeText } from './welcome.ts'

const wrongSetting = 78

async function main(): Promise<void> {
  // Whatever is written holds secrets or money: for this user only.
  process.umask(0o077)
  let config = loadConfig()
  let gateway: Gateway | undefined
  // The port comes first: secrets that are shown once must not be made by a start that fails.
  const server = listen(config, () => gateway?.handle ?? answerStarting)
  armCrashPoint(config.crashAt)
  const keys = loadKeys(config)
  const log = logFor(config, () => gateway)
  for (const sentence of unknownVariables()) log.warn(sentence)
  gateway = await boot(config, keys, log)
  const url = config.publicUrl ?? `http://localhost:${server.port}`
  gateway.engine.publicUrl = url
  gateway.engine.poller.start(gateway.engine)
  await gateway.engine.callbacks.start(gateway.engine)
  await gateway.engine.media?.start(gateway.engine)
  process.stdout.write(
    welcomeText({
      url,
      data: config.databaseUrl === undefined ? config.dataDir : 'PostgreSQL',
      tokens: gateway.madeTokens,
      ...(gateway.sandbox !== undefined && { sandbox: gateway.sandbox.url }),
      ...(keys.adminTokenIsNew && { adminToken: keys.adminToken }),
    }),
  )
  const opened = gateway
  process.on('SIGHUP', () => {
    reload(config, opened, log).then((next) => {
      config = next
    })
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => drain(config, opened, server, log))
  }
  process.stdout.write(`ready http://localhost:${server.port}\n`)
}

/** Errors nobody caught must not end the process: other callers' streams live in it. */
function logFor(config: Config, gateway: () => Gateway | undefined): Log {
  const log = createLog({
    level: config.logLevel,
    pretty: process.stderr.isTTY === true,
    write: (line) => process.stderr.write(line),
    clean: (line) => gateway()?.engine.cleaner.cleanLine(line) ?? line,
  })
  process.on('unhandledRejection', (error) => log.error('unhandled rejection', { error }))
  process.on('uncaughtException', (error) => log.error('uncaught exception', { error }))
  return log
}

const answerStarting: Handle = (request, connection) =>
  answerRefusal(
    newExchange(request, connection),
    refuse('overloaded', 'the gateway is starting', { retryAfterSeconds: 1 }),
  )

function listen(config: Config, handle: () => Handle) {
  const { host, port, limits } = config
  try {
    return Bun.serve({
      hostname: host,
      port,
      // Two gateways that share a port would answer for each other.
      reusePort: false,
      idleTimeout: limits.idleConnectionSeconds,
      // Sizes are judged per route, after the caller is known and before the body is read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      fetch: (request, server) => handle()(request, new ServerConnection(server, request)),
    })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? `port ${port} is already in use` : message
    throw new ConfigError(`GATEWAY_PORT/GATEWAY_HOST: cannot listen on ${host}:${port}: ${why}.`)
  }
}

async function reload(config: Config, { engine }: Gateway, log: Log): Promise<Config> {
  try {
    const next = reloadFile(config)
    const made = await alone(engine.store, () => applyDeclarations(engine, next.file))
    engine.declared = { ...engine.declared, file: next.file }
    await announce(engine)
    for (const token of made) {
      process.stdout.write(`API token ${token.secret} (account ${token.account}, ${token.name})\n`)
    }
    log.info('configuration reloaded', { file: next.configPath })
    return next
  } catch (error) {
    log.error('configuration not reloaded; the old one stays in force', {
      reason: (error as Error).message,
    })
    return config
  }
}

class ServerConnection implements Connection {
  readonly #server: Bun.Server<undefined>
  readonly #request: Request

  constructor(server: Bun.Server<undefined>, request: Request) {
    this.#server = server
    this.#request = request
  }

  ip(): string | undefined {
    return this.#server.requestIP(this.#request)?.address
  }

  /** An upstream may think longer than a connection may idle; deadlines watch it instead. */
  keepOpen(idleSeconds = 0): void {
    this.#server.timeout(this.#request, idleSeconds)
  }
}

let draining = false

/** No new work, running answers end properly, then exit 0. A second signal does not wait. */
async function drain(
  config: Config,
  gateway: Gateway,
  server: ReturnType<typeof listen>,
  log: Log,
): Promise<void> {
  if (draining) process.exit(0)
  draining = true
  const { engine } = gateway
  engine.draining = true
  log.info('draining', { running: engine.running })
  const ended = server.stop()
  // Downloads are no calls, but answers that run.
  const busy = () => engine.running > 0 || engine.abandoned > 0 || server.pendingRequests > 0
  const untilMs = Date.now() + config.limits.drainMs
  while (busy() && Date.now() < untilMs) await Bun.sleep(20)
  await Promise.race([ended, Bun.sleep(1_000)])
  await server.stop(true)
  await gateway.close()
  process.exit(0)
}

main().catch((error) => {
  const expected = [ConfigError, StoreRefused, DeclarationRefused].some((k) => error instanceof k)
  process.stderr.write(`gateway: ${expected ? error.message : (error.stack ?? error)}\n`)
  process.exit(expected ? wrongSetting : 1)
})
