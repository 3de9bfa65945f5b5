// The supervisor of GATEWAY_WORKERS processes behind one port: starts them, replaces dead ones,
// forwards signals, and prints the output of one process, once. Serves no caller itself.

import { type Config, ConfigError, unknownVariables } from '../config/index.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { bannerText, tokenLine } from '../start/banner.ts'
import { openSandboxFor } from '../start/boot.ts'
import type { Controlled, Reload } from '../start/lifecycle.ts'
import { listen } from '../start/listen.ts'
import { adminSetting, openLog } from '../start/serve.ts'
import { WorkerPool } from './worker-pool.ts'

export async function supervise(
  first: Config,
  reload: Reload,
): Promise<{ controlled: Controlled; config: Config }> {
  // Held until the first worker can take it: detects an unrelated gateway on the port.
  const unready = () => () => new Response(null, { status: 503 })
  const held = listen(first, false, unready)
  const heldAdmin =
    first.admin && listen({ ...first, ...first.admin }, false, unready, adminSetting)
  const admin = first.admin && { admin: { ...first.admin, port: heldAdmin!.port! } }
  const config = { ...first, port: held.port!, ...admin }
  const log = openLog(config, (line) => line)
  warnAbout(config, log)
  const sandbox = await openSandboxFor(config)
  const pool = new WorkerPool({
    config,
    log,
    ...(sandbox !== undefined && { sandbox }),
    letGo: () => Promise.all([held.stop(true), heldAdmin?.stop(true)]),
    reload,
    made: (tokens) => process.stdout.write(tokens.map(tokenLine).join('')),
  })
  const welcomes = await pool.start()
  if (typeof welcomes === 'string') throw new ConfigError(welcomes)
  const tokens = welcomes.flatMap((banner) => banner.tokens)
  process.stdout.write(bannerText({ ...welcomes[0]!, tokens }))
  const controlled: Controlled = {
    log,
    reload: (next) => pool.reload(next),
    async drain() {
      const isWell = await pool.drain()
      await sandbox?.sandbox.stop()
      return isWell
    },
    hurry: () => pool.quit(),
  }
  return { controlled, config }
}

function warnAbout({ redisUrl }: Config, log: Log): void {
  for (const sentence of unknownVariables()) log.warn(sentence)
  if (redisUrl !== undefined) return
  log.warn('each worker applies its share of the rate limits; GATEWAY_REDIS_URL lets them share')
}
