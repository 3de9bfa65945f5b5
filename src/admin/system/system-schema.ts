// Alerts, health and settings as the admin API tells of them.
import { z } from 'zod'
import { amount, column, count, pageFields, pageOf, query, time } from '../schema.ts'

export const alert = z
  .object({
    id: column(z.string(), 'alert'),
    kind: column(z.string()),
    subject: column(z.string(), 'about'),
    since: column(time()),
    last: time(),
    times: column(z.int().min(1)),
    message: column(z.string()),
    resolved_at: column(time().nullable(), 'resolved'),
    resolved_by: column(z.string().nullable(), 'by').describe(
      'Who resolved it; null: the gateway, because it was over.',
    ),
    acknowledged_at: time().nullable().describe('When a person took it on; it stays open.'),
    acknowledged_by: z.string().nullable(),
    recurred_at: time()
      .nullable()
      .describe('When it occurred again after it was acknowledged, which that has undone.'),
  })
  .meta({ id: 'Alert' })
export const alertList = pageOf(alert, 'AlertList')

export const alertQuery = z.object({
  kind: query.text('Such as `books`.', 'KIND'),
  all: query.flag('With those that are resolved.'),
  resolved: query.flag('Those that are resolved, alone.'),
  ...pageFields,
})
export const resolution = z
  .strictObject({ force: z.boolean().optional() })
  .meta({ id: 'AlertResolution' })

const anything = z.record(z.string(), z.unknown())

export const health = z
  .object({
    version: z.string(),
    started_at: time(),
    gateway: z.string(),
    gateways: z.array(z.object({ id: z.string(), started_at: time() })),
    store: z.object({
      engine: z.enum(['sqlite', 'postgres']),
      healthy: z.boolean(),
      schema: count(),
      version: z.string().nullable(),
      bytes: amount().nullable(),
    }),
    disk: z.object({ free_bytes: amount(), total_bytes: amount() }).nullable(),
    jobs: z.array(
      z.object({ name: z.enum(['tasks', 'callbacks']), waiting: count(), late_ms: amount() }),
    ),
    log_lines: z.object({ warn: count(), error: count() }),
    recent_errors: z.array(
      z.object({
        at: time(),
        level: z.enum(['warn', 'error']),
        message: z.string(),
        fields: anything,
      }),
    ),
    requests_in_flight: count(),
    draining: z.boolean(),
    poller: z.object({
      polls: count(),
      lag_p50_ms: z.number().nullable(),
      lag_p99_ms: z.number().nullable(),
    }),
    memory: z.object({ rss_bytes: count(), heap_bytes: count() }),
    event_loop_delay_ms: z.object({ mean: amount().nullable(), p99: amount().nullable() }),
    load: amount(),
  })
  .meta({ id: 'Health' })

export const settings = z
  .object({
    public_url: z.string(),
    region: z.string(),
    currency: z.string(),
    limits: anything,
    engine_limits: anything,
    tasks: anything,
    downloads: anything,
    media: z.boolean(),
    callbacks: z.string(),
    retention: z.object({ request_log_days: amount(), results_days: amount().nullable() }),
    yaml: z.object({ file: z.string(), effective: z.string() }),
    file: z.object({
      accounts: z.array(anything),
      tokens: z.array(anything),
      channels: z.array(anything),
      models: z.array(anything),
      prices: z.array(anything),
      webhooks: z.array(anything),
    }),
  })
  .meta({ id: 'Settings' })

export const diagnostics = z
  .object({
    made_at: time(),
    version: z.string(),
    machine: anything,
    health,
    counts: z.record(z.string(), count()),
    alerts: z.array(anything),
    settings,
    metrics: z.string().describe('As `/metrics` has them.'),
  })
  .meta({ id: 'Diagnostics' })

export type Alert = z.infer<typeof alert>
export type Health = z.infer<typeof health>
export type Settings = z.infer<typeof settings>

export const reload = z
  .object({
    file: z.string().nullable().describe('The file that was read; null: there is none.'),
    changes: z.array(
      z.object({
        section: column(z.string()),
        name: column(z.string()),
        change: column(z.enum(['added', 'changed', 'removed'])),
      }),
    ),
  })
  .meta({ id: 'Reload' })
