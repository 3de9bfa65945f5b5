// Background jobs. A service starts and stops; a loop runs the work of one again and again: never
// twice at once, earlier when it is woken, and less often while it fails.
import type { Log } from './telemetry/log.ts'

export interface Service {
  readonly name: string
  start(): void | Promise<void>
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>
  /** There may be work. */
  wake?(): void
}

/** After how long the next run is due; undefined: after `everyMs`. */
type Next = Promise<number | undefined> | Promise<void> | number | undefined | void

/** Timers and the monotonic clock. */
export interface Timers {
  nowMs(): number
  /** Returns a function that clears the timer. */
  after(ms: number, run: () => void): () => void
}

interface LoopOptions {
  name: string
  /** The maximum time between two runs; infinite for a loop that only runs when it is woken. */
  everyMs: number
  /** Before the first run. */
  firstMs?: number
  /** The minimum time between two runs. */
  minGapMs?: number | (() => number)
  /** After an error, doubled a few times if there are more, up to `everyMs`; absent: `everyMs`. */
  retryMs?: number
  /** Share of `everyMs` and `retryMs` that is random, so that gateways do not run in step. */
  jitter?: number
  log: Pick<Log, 'warn'>
  /** The log message about a run that threw. */
  failure: string
  random?: () => number
  timers?: Timers
}

/** No timer keeps the process alive. Globals are looked up on each call: a simulation replaces them. */
const processTimers: Timers = {
  nowMs: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** A service that is one loop. */
export abstract class LoopService implements Service {
  readonly name: string
  readonly #options: LoopOptions
  readonly #timers: Timers
  #state: 'new' | 'started' | 'stopped' = 'new'
  #dueMs = Number.POSITIVE_INFINITY
  #notBeforeMs = 0
  #failures = 0
  #running: Promise<void> | undefined
  #clear = () => {}

  constructor(options: LoopOptions) {
    this.name = options.name
    this.#options = options
    this.#timers = options.timers ?? processTimers
  }

  protected abstract run(): Next

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get isStopped(): boolean {
    return this.#state === 'stopped'
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'started'
    this.#plan(this.#options.firstMs)
  }

  /** Runs after this time, or earlier if that is due; after the current run, if there is one. */
  wake(afterMs = 0): void {
    this.#plan(afterMs)
  }

  #plan(afterMs = 0): void {
    if (this.#state !== 'started') return
    const waitMs = Math.min(Math.max(0, afterMs), this.#options.everyMs)
    const dueMs = Math.max(this.#timers.nowMs() + waitMs, this.#notBeforeMs)
    if (dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    if (this.#running === undefined) this.#schedule()
  }

  /** Starts no more runs; resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#clear()
    await this.#running
  }

  #schedule(): void {
    this.#clear()
    const waitMs = Math.max(0, this.#dueMs - this.#timers.nowMs())
    this.#clear = this.#timers.after(waitMs, () => {
      this.#dueMs = Number.POSITIVE_INFINITY
      this.#running = this.#run()
    })
  }

  async #run(): Promise<void> {
    const { log, failure, everyMs, minGapMs = 0 } = this.#options
    let waitMs: number
    try {
      waitMs = (await this.run()) ?? this.#spread(everyMs)
      this.#failures = 0
    } catch (error) {
      waitMs = this.#backOffMs()
      log.warn(failure, { error })
    }
    const nowMs = this.#timers.nowMs()
    const wokenMs = this.#dueMs
    this.#running = undefined
    this.#dueMs = Number.POSITIVE_INFINITY
    this.#notBeforeMs = nowMs + (typeof minGapMs === 'number' ? minGapMs : minGapMs())
    this.#plan(Math.min(waitMs, wokenMs - nowMs))
  }

  #backOffMs(): number {
    const { everyMs, retryMs = everyMs } = this.#options
    const waitMs = this.#spread(retryMs * 2 ** Math.min(this.#failures++, maxDoublings))
    return Math.min(everyMs, waitMs)
  }

  /** Never more than `ms`. */
  #spread(ms: number): number {
    const { jitter = 0, random = Math.random } = this.#options
    return jitter === 0 ? ms : ms * (1 - jitter * random())
  }
}

const maxDoublings = 4

/** One function that runs again and again. */
export class Loop extends LoopService {
  protected override readonly run: () => Next

  constructor({ run, ...options }: LoopOptions & { run: () => Next }) {
    super(options)
    this.run = run
  }
}
