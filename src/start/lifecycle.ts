// Maps signals to actions: SIGHUP reloads; SIGTERM and SIGINT drain, a second one ends work in
// flight, and a third one the process. The same for one process and for a supervisor.
import { type Config, reloadFile } from '../config/index.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { handleSignals, stopIsKept } from './signals.ts'

export interface Controlled {
  log: Log
  /** Applies the file; throws when that fails. */
  reload(next: Config): Promise<void>
  /** Takes no new work; resolves when all has ended, with whether it ended by itself. */
  drain(): Promise<boolean>
  /** Ends work in flight with an error that its callers can read. */
  hurry(): void
}

/** After the second signal; by then callers have been notified, or do not read. */
const hurriedMs = 8_000
/** A start that was told to stop has this long to end by itself. */
const startMs = 5_000
/** Under npm, a key press in a terminal arrives twice: from the terminal and from npm. */
const echoMs = 500

/** Until `obeySignals`: a start that hangs must not delay a stop. */
export function boundStart(): void {
  let stopAtMs: number | undefined
  const timer = setInterval(() => {
    if (!stopIsKept()) return
    stopAtMs ??= performance.now() + startMs
    if (performance.now() > stopAtMs) process.exit(0)
  }, 100)
  timer.unref()
}

export function obeySignals(controlled: Controlled, first: Config): void {
  let config = first
  let reloading = Promise.resolve()
  const reload = async () => {
    try {
      const next = reloadFile(config)
      await controlled.reload(next)
      config = next
      controlled.log.info('configuration reloaded', { file: next.configPath })
    } catch (error) {
      const reason = (error as Error).message
      controlled.log.error('configuration not reloaded; the old one stays in force', { reason })
    }
  }
  const stop = stopper(controlled, first.startedByNpm ? echoMs : 0)
  handleSignals((signal) => {
    if (signal === 'SIGHUP') reloading = reloading.then(reload)
    else stop()
  })
}

function stopper({ drain, hurry }: Controlled, ignoreMs: number): () => void {
  let stops = 0
  let lastMs = 0
  return () => {
    const nowMs = performance.now()
    if (stops > 0 && nowMs - lastMs < ignoreMs) return
    lastMs = nowMs
    stops++
    if (stops === 1) void drain().then((isWell) => process.exit(isWell ? 0 : 1))
    else if (stops === 2) {
      hurry()
      setTimeout(() => process.exit(0), hurriedMs).unref()
    } else process.exit(0)
  }
}
