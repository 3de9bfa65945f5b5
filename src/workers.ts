// The supervisor of GATEWAY_WORKERS processes behind one port: starts them, replaces the dead, hands
// on signals, and prints what one process would print, once. It serves no caller itself.
import { openSandboxFor } from './boot.ts'
import { type Config, ConfigError, reloadFile, unknownVariables } from './config.ts'
import { Crew } from './crew.ts'
import type { Log } from './lib/log.ts'
import { listen, openLog } from './serve.ts'
import { tokenLine, welcomeText } from './welcome.ts'

export async function supervise(first: Config): Promise<void> {
  // Held until the first worker can take it: an unrelated gateway on the port is found here.
  const held = listen(first, false, () => () => new Response(null, { status: 503 }))
  const config = { ...first, port: held.port! }
  const log = openLog(config, (line) => line)
  for (const sentence of unknownVariables()) log.warn(sentence)
  if (config.redisUrl === undefined) {
    log.warn('each worker keeps to its share of the rate limits; with GATEWAY_REDIS_URL they share')
  }
  const sandbox = await openSandboxFor(config)
  const crew = new Crew({
    config,
    log,
    ...(sandbox !== undefined && { sandbox }),
    letGo: () => held.stop(true),
    made: (tokens) => process.stdout.write(tokens.map(tokenLine).join('')),
  })
  const welcomes = await crew.start()
  if (typeof welcomes === 'string') throw new ConfigError(welcomes)
  const tokens = welcomes.flatMap((welcome) => welcome.tokens)
  process.stdout.write(welcomeText({ ...welcomes[0]!, tokens }))
  obeySignals(crew, config, log, async () => sandbox?.sandbox.stop())
  process.stdout.write(`ready http://localhost:${config.port}\n`)
}

function obeySignals(crew: Crew, first: Config, log: Log, close: () => Promise<unknown>): void {
  let config = first
  let reloading = Promise.resolve()
  const reload = async () => {
    try {
      const next = reloadFile(config)
      await crew.reload(next)
      config = next
      log.info('configuration reloaded', { file: next.configPath })
    } catch (error) {
      const reason = (error as Error).message
      log.error('configuration not reloaded; the old one stays in force', { reason })
    }
  }
  process.on('SIGHUP', () => {
    reloading = reloading.then(reload)
  })
  let draining = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      // A second signal does not wait.
      if (draining) return crew.quit()
      draining = true
      const isWell = await crew.drain()
      await close()
      process.exit(isWell ? 0 : 1)
    })
  }
}
