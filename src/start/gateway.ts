// Starts the gateway: one process, or a supervisor with workers. A wrong setting ends it with one
// sentence and exit code 78; a stop signal ends it at any time, with code 0.
import { type Config, loadConfig, unknownVariables } from '../config/index.ts'
import { removeAddress, writeAddress } from '../lib/address-file.ts'
import { supervise } from '../process/supervisor.ts'
import { isWorker, runWorker } from '../process/worker.ts'
import { isBusy } from '../store/index.ts'
import { bannerText, tokenLine } from './banner.ts'
import { boundStart, type Controlled, obeySignals, type Reload, reloader } from './lifecycle.ts'
import { isRefusedStart, serve } from './serve.ts'
import { stopIsKept, stopWithParent } from './signals.ts'

const wrongSetting = 78

async function main(): Promise<void> {
  if (isWorker()) return runWorker()
  const config = loadConfig()
  if (config.startedByNpm) stopWithParent()
  // Nothing is open yet: there is nothing to close.
  if (stopIsKept()) process.exit(0)
  boundStart()
  // Requests for a reload come once it serves, and are answered when the start is over.
  const reload = Promise.withResolvers<Reload>()
  const reloadOnRequest: Reload = async () => (await reload.promise)()
  const started =
    config.workers > 1
      ? await supervise(config, reloadOnRequest)
      : await serveAlone(config, reloadOnRequest)
  // Its output may hold secrets that are shown once; the ready line would be false.
  const isEnding = stopIsKept()
  reload.resolve(reloader(started.controlled, started.config))
  const controlled = findable(started.controlled, started.config)
  obeySignals(controlled, await reload.promise, config.startedByNpm)
  if (!isEnding) process.stdout.write(`ready http://localhost:${started.config.port}\n`)
}

async function serveAlone(first: Config, reloadOnRequest: Reload) {
  const served = await serve(first, { reload: reloadOnRequest })
  const { log, drain, hurry } = served
  for (const sentence of unknownVariables()) log.warn(sentence)
  process.stdout.write(bannerText(served.banner))
  const reload = async (next: Config) => {
    for (const token of await served.reload(next)) process.stdout.write(tokenLine(token))
  }
  const controlled = { log, reload, hurry, drain: () => drain().then(() => true) }
  const admin = first.admin && { admin: { ...first.admin, port: served.adminPort! } }
  return { controlled, config: { ...first, port: served.port, ...admin } }
}

const everywhere = ['0.0.0.0', '::', '[::]', '']

/** Commands on this machine find the gateway by its data directory until it drains. */
function findable(controlled: Controlled, { dataDir, ...config }: Config): Controlled {
  const { host, port } = { ...config, ...config.admin }
  const plain = everywhere.includes(host) ? 'localhost' : host.replace(/^\[(.*)\]$/, '$1')
  const address = `http://${plain.includes(':') ? `[${plain}]` : plain}:${port}`
  writeAddress(dataDir, address)
  return {
    ...controlled,
    drain() {
      removeAddress(dataDir, address)
      return controlled.drain()
    },
  }
}

main().catch((error) => {
  // Workers that were stopped before they were ready have ended.
  if (stopIsKept()) process.exit(0)
  const expected = isRefusedStart(error)
  const problem = isBusy(error)
    ? `the database could not be used at the moment (${error.message}); start again.`
    : expected
      ? error.message
      : (error.stack ?? error)
  process.stderr.write(`gateway: ${problem}\n`)
  process.exit(expected ? wrongSetting : 1)
})
