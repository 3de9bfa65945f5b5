// How this gateway is doing, gathered: the process, its database and disk, what work waits, and what
// was complained of last. No secret is in any of it.
import { statfs } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { dirname } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import packageJson from '../../../package.json'
import type { BaseDeps, Load } from '../../engine/base-deps.ts'
import type { Jobs } from '../../engine/jobs.ts'
import { CountedOpen } from '../../engine/telemetry/metrics/open-counts.ts'
import type { Cleaner } from '../../lib/redact/index.ts'
import { gatewayOf } from '../../store/index.ts'
import { type DatabaseFacts, databaseFacts } from '../../store/maintenance/database-facts.ts'
import { listGateways } from '../../store/maintenance/gateways.ts'
import { getMeta } from '../../store/sql/meta.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { health } from './system-schema.ts'

const startedAtMs = Date.now()
/** A size is not asked for with every look. */
const factsFreshMs = 30_000

interface HealthDeps extends BaseDeps {
  readonly cleaner: Cleaner
  readonly jobs: Pick<Jobs, 'poller'>
  readonly load: Load
}

/** One for each engine, from its first use on: the delay of the event loop is measured all the time. */
const facts = new WeakMap<HealthDeps, HealthFacts>()

export function healthFactsOf(engine: HealthDeps): HealthFacts {
  const known = facts.get(engine) ?? new HealthFacts(engine)
  facts.set(engine, known)
  return known
}

class HealthFacts {
  readonly #engine: HealthDeps
  readonly #delay: ReturnType<typeof monitorEventLoopDelay>
  readonly #open = new CountedOpen()
  #facts: Promise<DatabaseFacts> | undefined
  #factsAtMs = 0

  constructor(engine: HealthDeps) {
    this.#engine = engine
    this.#delay = monitorEventLoopDelay({ resolution: 20 })
    this.#delay.enable()
  }

  async read(): Promise<View<typeof health>> {
    const engine = this.#engine
    const { store } = engine
    const gateways = await listGateways(store.read)
    const lag = engine.jobs.poller.lag.read()
    const { rss, heapUsed } = process.memoryUsage()
    const facts = await this.#databaseFacts()
    return {
      version: packageJson.version,
      started_at: time(startedAtMs),
      gateway: gatewayOf(store),
      gateways: gateways.map((each) => ({ id: each.id, started_at: time(each.startedAtMs) })),
      store: {
        engine: store.dialect,
        healthy: store.healthy,
        schema: Number((await getMeta(store.read, 'schema_version')) ?? 0),
        version: facts?.version ?? null,
        bytes: facts?.bytes ?? null,
      },
      disk: await diskOf(facts?.file),
      requests_in_flight: engine.load.running,
      draining: engine.load.draining,
      poller: { polls: lag.polls, lag_p50_ms: lag.p50Ms, lag_p99_ms: lag.p99Ms },
      jobs: await this.#jobs(),
      memory: { rss_bytes: rss, heap_bytes: heapUsed },
      event_loop_delay_ms: {
        mean: Math.round(this.#delay.mean / 1e4) / 100,
        p99: Math.round(this.#delay.percentile(99) / 1e4) / 100,
      },
      load: loadavg()[0] ?? 0,
      log_lines: { warn: engine.log.lines?.warn ?? 0, error: engine.log.lines?.error ?? 0 },
      recent_errors: recentErrorsOf(engine),
    }
  }

  /** Undefined while the database is away. */
  #databaseFacts(): Promise<DatabaseFacts | undefined> {
    const nowMs = performance.now()
    if (this.#facts === undefined || nowMs - this.#factsAtMs > factsFreshMs) {
      this.#factsAtMs = nowMs
      this.#facts = databaseFacts(this.#engine.store)
    }
    return this.#facts.catch(() => {
      this.#facts = undefined
      return undefined
    })
  }

  /** How many wait, and by how much the one that waits longest is late. */
  async #jobs() {
    const open = await this.#open.read(this.#engine)
    const tasks = open?.tasks.reduce((sum, { count }) => sum + count, 0) ?? 0
    const late = (dueMs: number | undefined) =>
      open === undefined || dueMs === undefined ? 0 : Math.max(0, open.atMs - dueMs)
    return [
      { name: 'tasks' as const, waiting: tasks, late_ms: late(open?.nextPollMs) },
      {
        name: 'callbacks' as const,
        waiting: open?.callbacks ?? 0,
        late_ms: late(open?.nextCallbackMs),
      },
    ]
  }
}

/** Of the disk that the database lies on; null where that is another machine's. */
async function diskOf(file: string | undefined) {
  if (file === undefined) return null
  try {
    const { bavail, blocks, bsize } = await statfs(dirname(file))
    return { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
  } catch {
    return null
  }
}

type Level = 'warn' | 'error'

/** Lines are cleaned once more: a secret may have become known after one was written. */
function recentErrorsOf({ log, cleaner }: HealthDeps) {
  return (log.recent?.() ?? []).flatMap((line) => {
    try {
      const { time: at, level, msg, ...fields } = JSON.parse(cleaner.cleanLine(line))
      return [{ at: String(at), level: level as Level, message: String(msg), fields }]
    } catch {
      return []
    }
  })
}
