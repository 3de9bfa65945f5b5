// How this gateway is doing, and a file with all of it for support. No secret is in either answer.
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { CountedOpen } from '../../engine/telemetry/metrics/open-counts.ts'
import { readMetrics } from '../../engine/telemetry/metrics/read-metrics.ts'
import { answerHeaders } from '../../http/request-context.ts'
import { writeFamilies } from '../../lib/telemetry/metrics.ts'
import { listAlerts } from '../../store/catalog/alerts.ts'
import { auditChange, time } from '../answers.ts'
import { forStaff } from '../permission.ts'
import type { Ask } from '../route.ts'
import { healthFactsOf } from './health-facts.ts'
import { gatewayRoute, settingsOf } from './settings.ts'
import { diagnostics, health as healthSchema } from './system-schema.ts'
import { withoutSecrets } from './without-secrets.ts'

const maxAlerts = 100

async function downloadDiagnostics({ engine, deps, x }: Ask) {
  const { store, catalog } = engine
  await store.tx((tx) => auditChange(tx, x, { action: 'diagnostics', subject: 'gateway' }))
  const health = await healthFactsOf(engine).read()
  const alerts = await listAlerts(store.read, { limit: maxAlerts, all: false })
  const scraped = { engine, open: new CountedOpen(), version: health.version }
  const bundle = {
    made_at: time(x.atMs),
    version: health.version,
    machine: machine(),
    health,
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
}

const machine = () => ({
  runtime: `bun ${Bun.version}`,
  system: `${platform()} ${release()} ${arch()}`,
  cpus: cpus().length,
  memory_bytes: totalmem(),
})

export const healthRoutes = [
  gatewayRoute('GET /health', {
    id: 'getHealth',
    permission: forStaff,
    summary: 'How this gateway is doing',
    answer: healthSchema,
    returns: 'Figures of this moment.',
    handle: ({ engine }) => healthFactsOf(engine).read(),
  }),
  gatewayRoute('GET /diagnostics', {
    id: 'downloadDiagnostics',
    summary: 'A file for support: all that helps to find a fault, without secrets',
    files: { 'application/json': diagnostics },
    headers: ['content-disposition'],
    returns: 'Health, settings, alerts, metrics and the last errors.',
    handle: downloadDiagnostics,
  }),
]
