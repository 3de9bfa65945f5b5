// The answer of GET /health.
export interface Complaint {
  at: string
  level: 'warn' | 'error'
  message: string
  fields: Record<string, unknown>
}

export interface Health {
  version: string
  started_at: string
  gateway: string
  gateways: { id: string; started_at: string }[]
  store: {
    engine: string
    healthy: boolean
    schema: number
    version: string | null
    bytes: number | null
  }
  /** Null: not on this machine. */
  disk: { free_bytes: number; total_bytes: number } | null
  calls_running: number
  poller: { looks: number; lag_p50_ms: number; lag_p99_ms: number }
  jobs: { name: 'tasks' | 'callbacks'; waiting: number; late_ms: number }[]
  memory: { rss_bytes: number; heap_bytes: number }
  event_loop_delay_ms: { mean: number; p99: number }
  load: number
  log_lines: { warn: number; error: number }
  complaints: Complaint[]
}
