// One scrape of this process: its counters, its state, and the open items in the database.

import type { Ledger } from '../../../billing/ledger.ts'
import type { ReceiptWriter } from '../../../billing/proof/receipt-writer.ts'
import type { Catalog } from '../../../catalog/snapshot.ts'
import { liveBatchStates } from '../../../contract/batches/index.ts'
import { hasOwnProtocol, interfaces } from '../../../contract/config-schema/names.ts'
import type { Family, Sample } from '../../../lib/telemetry/metrics.ts'
import { HistogramSeries, labelsOf, series } from '../../../lib/telemetry/metrics.ts'
import type { BaseDeps, Declares, Load } from '../../base-deps.ts'
import { type HealthDeps, healthOf } from '../../routing/channel-health.ts'
import type { Tracer } from '../traces/tracer.ts'
import { familyOf, type MetricName, metrics } from './families.ts'
import type { Meters } from './meters.ts'
import type { Counted, CountedOpen } from './open-counts.ts'

export interface ScrapedEngine extends BaseDeps, Declares, HealthDeps {
  readonly ledger: Ledger
  readonly receiptWriter: ReceiptWriter
  readonly catalog: Catalog
  readonly meters?: Meters
  readonly tracer?: Tracer
  readonly load: Load
}

interface Scraped {
  engine: ScrapedEngine
  open: CountedOpen
  version: string
}

type Samples = (name: MetricName) => Sample[]

const startedSeconds = Math.round(performance.timeOrigin) / 1000

export async function readMetrics({ engine, open, version }: Scraped): Promise<Family[]> {
  const counted = await open.read(engine)
  const samples = {} as Record<MetricName, Sample[]>
  const names = Object.keys(metrics) as MetricName[]
  for (const name of names) samples[name] = []
  const at: Samples = (name) => samples[name]
  engine.meters?.addTo(at)
  addProcess(engine, at)
  addBooks(engine, at)
  addChannels(engine, at)
  if (counted !== undefined) addOpen(counted, at)
  const { currency, region } = engine.declared.file
  const info = labelsOf({ version, store: engine.store.dialect, currency, region })
  at('gateway_info').push([series('gateway_info', info), 1])
  return names.map((name) => familyOf(name, samples[name]))
}

function addProcess(engine: ScrapedEngine, at: Samples): void {
  const put = (name: MetricName, value: number) => at(name).push([name, value])
  const { user, system } = process.cpuUsage()
  put('gateway_requests_in_flight', engine.load.running)
  put('gateway_streams_abandoned', engine.load.abandoned)
  put('gateway_process_cpu_seconds_total', (user + system) / 1e6)
  put('gateway_process_resident_memory_bytes', process.memoryUsage.rss())
  put('gateway_process_start_time_seconds', startedSeconds)
  put('gateway_processes', 1)
  put('gateway_draining', engine.load.draining ? 1 : 0)
  for (const [level, lines] of Object.entries(engine.log.lines ?? {})) {
    at('gateway_log_lines_total').push([`gateway_log_lines_total{level="${level}"}`, lines])
  }
  for (const [outcome, spans] of Object.entries(engine.tracer?.spans ?? noSpans)) {
    at('gateway_trace_spans_total').push([`gateway_trace_spans_total{outcome="${outcome}"}`, spans])
  }
}

const noSpans = { sent: 0, dropped: 0, failed: 0 }

const commitSeries = new WeakMap<object, HistogramSeries>()

function addBooks({ store, ledger, receiptWriter }: ScrapedEngine, at: Samples): void {
  const put = (name: MetricName, value: number) => at(name).push([name, value])
  put('gateway_store_healthy', store.healthy ? 1 : 0)
  put('gateway_receipts_pending', receiptWriter.behind)
  put('gateway_accounts_suspended', ledger.stopped.size)
  const { commits } = store
  if (commits === undefined) return
  const name = 'gateway_ledger_commit_seconds'
  const times = commitSeries.get(commits) ?? new HistogramSeries(name, '', commits.seconds)
  commitSeries.set(commits, times)
  times.addTo(at(name))
  put('gateway_ledger_records_total', commits.records)
  put('gateway_ledger_failures_total', commits.failures)
}

const states = ['good', 'probing', 'avoided', 'blocked'] as const
/** As many as have counters of their own. */
const maxChannels = 300

function addChannels(engine: ScrapedEngine, at: Samples): void {
  for (const channel of engine.catalog.channels.slice(0, maxChannels)) {
    const { state, busy } = healthOf(engine, channel)
    const labels = labelsOf({ channel: channel.name })
    const shown = channel.disabled ? 'disabled' : state
    for (const each of [...states, 'disabled']) {
      const labelled = series('gateway_channel_state', `${labels},state="${each}"`)
      at('gateway_channel_state').push([labelled, each === shown ? 1 : 0])
    }
    at('gateway_channel_busy').push([series('gateway_channel_busy', labels), busy])
    const limit = series('gateway_channel_limit', labels)
    at('gateway_channel_limit').push([limit, channel.maxConcurrency])
  }
}

const knownStates = ['accepted', 'unknown', 'queued', 'running'] as const
const withTasks = interfaces.filter((use) => !hasOwnProtocol(use))
/** Exported also at zero, so that the first one is noticed. */
const alertKinds = [
  ...['books', 'channel_down', 'error_rate', 'guards', 'implausible_usage', 'loss'],
  ...['margin.negative', 'missing_price', 'statement', 'task_failures', 'void_journal'],
]

function addOpen(open: Counted, at: Samples): void {
  const put = (name: MetricName, value: number) => at(name).push([name, value])
  const sinceSeconds = (ms = open.atMs) => Math.max(0, open.atMs - ms) / 1000
  for (const use of withTasks) {
    for (const state of knownStates) {
      const found = open.tasks.find((each) => each.interface === use && each.state === state)
      const labelled = series('gateway_tasks', labelsOf({ interface: use, state }))
      at('gateway_tasks').push([labelled, found?.count ?? 0])
    }
  }
  for (const state of liveBatchStates) {
    const found = open.batches.find((each) => each.state === state)
    at('gateway_batches').push([series('gateway_batches', labelsOf({ state })), found?.count ?? 0])
  }
  put('gateway_tasks_oldest_seconds', sinceSeconds(open.oldestTaskMs))
  put('gateway_tasks_overdue_seconds', sinceSeconds(open.nextPollMs))
  put('gateway_callbacks_waiting', open.callbacks)
  put('gateway_callbacks_overdue_seconds', sinceSeconds(open.nextCallbackMs))
  put('gateway_db_counts_timestamp_seconds', open.atMs / 1000)
  const none = alertKinds.filter((kind) => !open.alerts.some((each) => each.kind === kind))
  for (const { kind, count } of [...open.alerts, ...none.map((kind) => ({ kind, count: 0 }))]) {
    at('gateway_alerts_open').push([series('gateway_alerts_open', labelsOf({ kind })), count])
  }
}
