// Maps signals to actions: SIGHUP reloads; SIGTERM and SIGINT drain, a second one ends work in
// flight, and a third one the process. The same for one process and for a supervisor.
import { type Config, reloadFile } from '../config/index.ts'
import { fileChanges, type ReloadOutcome } from '../contract/reload.ts'
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

export type Reload = () => Promise<ReloadOutcome>

/** Reads the file again and applies it, one request after the other: each reads what is there then. */
export function reloader(
  { log, reload }: Pick<Controlled, 'log' | 'reload'>,
  first: Config,
): Reload {
  let config = first
  let last: Promise<unknown> = Promise.resolve()
  const once = async (): Promise<ReloadOutcome> => {
    try {
      const next = reloadFile(config)
      await reload(next)
      const changes = fileChanges(config.file, next.file)
      config = next
      log.info('configuration reloaded', { file: next.configPath })
      return { kind: 'reloaded', file: next.configPath ?? null, changes }
    } catch (error) {
      const reason = (error as Error).message
      log.error('configuration not reloaded; the old one stays in force', { reason })
      return { kind: 'refused', reason }
    }
  }
  return () => {
    const reloaded = last.then(once)
    last = reloaded
    return reloaded
  }
}

export function obeySignals(controlled: Controlled, reload: Reload, startedByNpm: boolean): void {
  const stop = stopper(controlled, startedByNpm ? echoMs : 0)
  handleSignals((signal) => {
    if (signal === 'SIGHUP') void reload()
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
