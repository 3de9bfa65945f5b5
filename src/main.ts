// The start of the gateway: one process, or a supervisor with workers. A wrong setting ends it with
// one sentence and code 78; signals reload and drain.
import { loadConfig, reloadFile, unknownVariables } from './config.ts'
import { isRefusedStart, serve } from './serve.ts'
import { tokenLine, welcomeText } from './welcome.ts'
import { isWorker, runWorker } from './worker.ts'
import { supervise } from './workers.ts'

const wrongSetting = 78

async function main(): Promise<void> {
  if (isWorker()) return runWorker()
  const config = loadConfig()
  return config.workers > 1 ? supervise(config) : serveAlone(config)
}

async function serveAlone(first: ReturnType<typeof loadConfig>): Promise<void> {
  let config = first
  const served = await serve(config)
  const { log } = served
  for (const sentence of unknownVariables()) log.warn(sentence)
  process.stdout.write(welcomeText(served.welcome))
  process.on('SIGHUP', async () => {
    try {
      const next = reloadFile(config)
      for (const token of await served.reload(next)) process.stdout.write(tokenLine(token))
      config = next
      log.info('configuration reloaded', { file: next.configPath })
    } catch (error) {
      const reason = (error as Error).message
      log.error('configuration not reloaded; the old one stays in force', { reason })
    }
  })
  let draining = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      // A second signal does not wait.
      if (draining) process.exit(0)
      draining = true
      await served.drain()
      process.exit(0)
    })
  }
  process.stdout.write(`ready http://localhost:${served.port}\n`)
}

main().catch((error) => {
  const expected = isRefusedStart(error)
  process.stderr.write(`gateway: ${expected ? error.message : (error.stack ?? error)}\n`)
  process.exit(expected ? wrongSetting : 1)
})
