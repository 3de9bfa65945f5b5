// How this gateway is doing, and all of it in one file for whoever is asked for help. No secret is in
// either answer.
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { CountedOpen } from '../../engine/telemetry/metrics/open-counts.ts'
import { readMetrics } from '../../engine/telemetry/metrics/read-metrics.ts'
import { answerHeaders } from '../../http/exchange.ts'
import { writeFamilies } from '../../lib/telemetry/metrics.ts'
import { listAlerts } from '../../store/catalog/alerts.ts'
import { type Resource, recordChange, route, time } from '../legacy-route.ts'
import { HealthFacts } from './health-facts.ts'
import { settingsOf } from './settings.ts'
import { withoutSecrets } from './without-secrets.ts'

const maxAlerts = 100

export const health: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine
  const facts = new HealthFacts(engine)

  app.get(
    '/health',
    route(() => facts.read()),
  )

  app.get(
    '/diagnostics',
    route(async (_, x) => {
      await store.tx((tx) => recordChange(tx, x, { action: 'diagnostics', subject: 'gateway' }))
      const { catalog } = engine
      const now = await facts.read()
      const alerts = await listAlerts(store.read, { limit: maxAlerts, all: false })
      const scraped = { engine, open: new CountedOpen(), version: now.version }
      const bundle = {
        made_at: time(x.atMs),
        version: now.version,
        machine: machine(),
        health: now,
        counts: {
          tokens: catalog.tokens.size,
          channels: catalog.channels.length,
          models: catalog.models.size,
        },
        alerts: alerts.items.map(({ kind, subject, message, lastMs, times }) => ({
          kind,
          subject,
          message,
          last: time(lastMs),
          times,
        })),
        settings: settingsOf(deps),
        metrics: writeFamilies(await readMetrics(scraped), false),
      }
      const headers = answerHeaders(x, 'application/json')
      const name = `gateway-diagnostics-${time(x.atMs).slice(0, 19).replaceAll(':', '')}.json`
      headers['content-disposition'] = `attachment; filename="${name}"`
      return new Response(JSON.stringify(withoutSecrets(engine, bundle), null, 2), { headers })
    }),
  )
}

const machine = () => ({
  runtime: `bun ${Bun.version}`,
  system: `${platform()} ${release()} ${arch()}`,
  cpus: cpus().length,
  memory_bytes: totalmem(),
})
