// The worker processes of a gateway: each has a slot that is refilled when its worker dies, with a
// back-off that grows while workers die early. Knows no signal and prints nothing.

import type { Config } from '../config/index.ts'
import type { ReloadOutcome } from '../contract/reload.ts'
import type { MadeToken } from '../engine/catalog/apply-declarations.ts'
import { assets } from '../lib/assets.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Banner } from '../start/banner.ts'
import type { OpenedSandbox } from '../start/boot.ts'
import { PoolMetrics } from './pool-metrics.ts'
import { type HandedSandbox, type Order, type Report, workerArgument } from './worker.ts'

const firstPauseMs = 100
const maxPauseMs = 10_000
/** A worker that lived this long did not fail at its start. */
const settledMs = 30_000
/** On top of the drain time of a worker. */
const killAfterMs = 5_000

interface WorkerPoolOptions {
  config: Config
  log: Log
  sandbox?: OpenedSandbox
  /** Before the first worker listens: the holder of its port must release it. */
  letGo: () => unknown
  /** For a worker that was asked to. */
  reload: () => Promise<ReloadOutcome>
  /** Tokens that a worker has created after the start. */
  made: (tokens: readonly MadeToken[]) => void
}

type Started = { banner: Banner } | { sentence: string } | { code: number | null }

interface Spawned {
  bornMs: number
  started: Promise<Started>
  ended: Promise<number | null>
}

interface Worker {
  child: Bun.Subprocess
  /** The last message sent to it. */
  config: Config
  isReady: boolean
  reloaded: ((outcome: Reloaded) => void) | undefined
}

type Reloaded = Extract<Report, { kind: 'reloaded' | 'not reloaded' }> | undefined

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workers = new Set<Worker>()
  readonly #metrics = new PoolMetrics<Worker>(
    () => [...this.#workers].filter(({ isReady }) => isReady),
    ({ child }) => sendOrder(child, { kind: 'count' }),
  )
  #config: Config
  #stopping = false
  #isWell = true

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#config = options.config
  }

  /** The first one alone: it creates tables and secrets. Returns a sentence if it cannot start. */
  async start(): Promise<Banner[] | string> {
    const { letGo, config } = this.#options
    const first = await this.#hire(letGo)
    const others = 'banner' in first ? Array.from({ length: config.workers - 1 }) : []
    const started = [first, ...(await Promise.all(others.map(() => this.#hire())))]
    const failed = started.find((each) => !('banner' in each))
    if (failed === undefined) {
      return started.flatMap((each) => ('banner' in each ? [each.banner] : []))
    }
    await this.drain()
    if ('sentence' in failed) return failed.sentence
    throw new Error('a worker ended before it was ready')
  }

  /** The first worker decides whether the file can be applied; then the others follow. */
  async reload(next: Config): Promise<void> {
    const ready = [...this.#workers].filter(({ isReady }) => isReady)
    for (const worker of ready) {
      const outcome = await this.#reload(worker, next)
      if (outcome?.kind === 'not reloaded') {
        // Others have applied it already: only this worker has a problem.
        if (this.#config !== next) throw new Error(outcome.reason)
        this.#options.log.error('a worker keeps the old configuration', { reason: outcome.reason })
      }
      if (outcome?.kind === 'reloaded') this.#config = next
    }
  }

  /** Resolves when no worker is left; false when one did not end by itself. */
  async drain(): Promise<boolean> {
    this.#stopping = true
    for (const worker of this.#workers) this.#stop(worker)
    const timer = setTimeout(() => {
      this.#isWell = false
      for (const { child } of this.#workers) child.kill('SIGKILL')
    }, this.#config.limits.drainMs + killAfterMs)
    while (this.#workers.size > 0) await Bun.sleep(10)
    clearTimeout(timer)
    return this.#isWell
  }

  quit(): void {
    for (const { child } of this.#workers) sendOrder(child, { kind: 'quit' })
  }

  /** A worker that has not begun would not receive it. */
  #stop({ child, isReady }: Worker): void {
    if (isReady) sendOrder(child, { kind: 'drain' })
    else child.kill('SIGTERM')
  }

  /** Starts one, and restarts it whenever it ends. */
  async #hire(mayListen: () => unknown = () => {}): Promise<Started> {
    const spawned = this.#spawn(mayListen)
    const outcome = await spawned.started
    if ('banner' in outcome) void this.#keepFilled(spawned)
    return outcome
  }

  async #keepFilled(first: Spawned): Promise<void> {
    const { log, made } = this.#options
    let spawned = first
    let pauseMs = firstPauseMs
    for (;;) {
      const exit_code = await spawned.ended
      if (this.#stopping) return
      const livedMs = performance.now() - spawned.bornMs
      log.warn('a worker has ended and is replaced', { exit_code, lived_ms: Math.round(livedMs) })
      if (livedMs > settledMs) pauseMs = firstPauseMs
      await Bun.sleep(pauseMs)
      if (this.#stopping) return
      pauseMs = Math.min(pauseMs * 2, maxPauseMs)
      spawned = this.#spawn(() => {})
      const outcome = await spawned.started
      if ('banner' in outcome) made(outcome.banner.tokens)
      else if (!this.#stopping) log.error('a worker could not be replaced', whyNot(outcome))
    }
  }

  #spawn(mayListen: () => unknown): Spawned {
    const bornMs = performance.now()
    const started = Promise.withResolvers<Started>()
    const child = Bun.spawn([...assets.command, workerArgument], {
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      serialization: 'advanced',
      ipc: (report: Report) => void this.#reply(worker, report, started.resolve, mayListen),
    })
    const worker: Worker = { child, config: this.#config, isReady: false, reloaded: undefined }
    this.#workers.add(worker)
    const ended = child.exited.then(() => {
      this.#workers.delete(worker)
      this.#metrics.left(worker)
      worker.reloaded?.(undefined)
      started.resolve({ code: child.exitCode })
      if (this.#stopping && worker.isReady && child.exitCode !== 0) this.#isWell = false
      return child.exitCode
    })
    return { bornMs, started: started.promise, ended }
  }

  async #reply(
    worker: Worker,
    report: Report,
    started: (outcome: Started) => void,
    mayListen: () => unknown,
  ): Promise<void> {
    const { child } = worker
    if (report.kind === 'open') {
      await mayListen()
      sendOrder(child, { kind: 'listen' })
    } else if (report.kind === 'up') {
      const { sandbox } = this.#options
      const handed = sandbox === undefined ? {} : { sandbox: handedOver(sandbox) }
      sendOrder(child, { kind: 'begin', config: worker.config, ...handed })
    } else if (report.kind === 'ready') {
      worker.isReady = true
      // The file was reloaded while it started.
      if (worker.config !== this.#config) void this.#reload(worker, this.#config)
      started({ banner: report.banner })
    } else if (report.kind === 'refused') {
      started({ sentence: report.sentence })
      child.kill('SIGTERM')
    } else if (report.kind === 'counted') {
      this.#metrics.record(worker, report.families)
    } else if (report.kind === 'whole wanted') {
      sendOrder(child, { kind: 'whole', families: await this.#metrics.read() })
    } else if (report.kind === 'reload wanted') {
      sendOrder(child, { kind: 'reload done', outcome: await this.#options.reload() })
    } else {
      worker.reloaded?.(report)
      if (report.kind === 'reloaded') this.#options.made(report.tokens)
    }
  }

  /** Undefined when it ended meanwhile. */
  #reload(worker: Worker, config: Config): Promise<Reloaded> {
    const done = Promise.withResolvers<Reloaded>()
    worker.reloaded = done.resolve
    worker.config = config
    sendOrder(worker.child, { kind: 'reload', config })
    return done.promise
  }
}

const whyNot = (outcome: Started) => {
  if ('sentence' in outcome) return { reason: outcome.sentence }
  return 'code' in outcome ? { exit_code: outcome.code } : {}
}

/** A worker that has just ended cannot receive messages, and need not. */
function sendOrder(child: Bun.Subprocess, order: Order): void {
  try {
    child.send(order)
  } catch {
    // Its end is detected separately.
  }
}

function handedOver({ key, sandbox: { port, url, protocols } }: OpenedSandbox): HandedSandbox {
  return { key, sandbox: { port, url, protocols } }
}
