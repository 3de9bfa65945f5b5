// How this gateway is doing, and what it runs with. No secret is in either answer.
import { loadavg } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import packageJson from '../../package.json'
import { listGateways } from '../store/gateways.ts'
import { gatewayOf } from '../store/index.ts'
import { getMeta } from '../store/meta.ts'
import { type Resource, route, time } from './route.ts'

const startedAtMs = Date.now()

export const health: Resource = (app, { engine, limits }) => {
  const { store } = engine
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()

  app.get(
    '/health',
    route(async () => {
      const gateways = await listGateways(store.read)
      const lag = engine.poller.lag.read()
      const { rss, heapUsed } = process.memoryUsage()
      return {
        version: packageJson.version,
        started_at: time(startedAtMs),
        gateway: gatewayOf(store),
        gateways: gateways.map((each) => ({ id: each.id, started_at: time(each.startedAtMs) })),
        store: {
          engine: store.engine,
          healthy: store.healthy,
          schema: Number((await getMeta(store.read, 'schema_version')) ?? 0),
        },
        calls_running: engine.running,
        draining: engine.draining,
        poller: { looks: lag.looks, lag_p50_ms: lag.p50Ms, lag_p99_ms: lag.p99Ms },
        memory: { rss_bytes: rss, heap_bytes: heapUsed },
        event_loop_delay_ms: {
          mean: Math.round(delay.mean / 1e4) / 100,
          p99: Math.round(delay.percentile(99) / 1e4) / 100,
        },
        load: loadavg()[0] ?? 0,
      }
    }),
  )

  app.get(
    '/settings',
    route(() => {
      const { file } = engine.declared
      const channels = file.channels.map(({ keys, ...rest }) => ({ ...rest, keys: keys.length }))
      const tokens = file.tokens.map(({ token, ...rest }) => ({
        ...rest,
        given: token !== undefined,
      }))
      return {
        public_url: engine.publicUrl,
        region: file.region,
        currency: file.currency,
        limits,
        engine_limits: engine.limits,
        tasks: file.tasks ?? {},
        downloads: file.downloads ?? {},
        media: engine.media !== undefined,
        callbacks: file.callbacks === undefined ? 'own secret' : 'secret from the file',
        file: {
          accounts: file.accounts,
          tokens,
          channels,
          models: file.models,
          prices: file.prices,
        },
      }
    }),
  )
}
