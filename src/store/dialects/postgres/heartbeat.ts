// Whether the database still answers. A server that is gone says so at once; one that hangs says
// nothing, and whoever waits for it would wait as long as TCP lets them. Knows neither SQL nor health.

/** Time is counted in ticks, so that a late event loop is not taken for a silent server. */
const tickMs = 200
/** So many ticks without an answer, and nothing new is begun. */
const silentTicks = 3
/** A batch may have to wait for a row or a disk, which a plain question never does. */
const stuckTicks = 5
/** From then on the connections are not worth waiting for: new ones tell sooner. */
const lostTicks = 15

export interface HeartbeatOptions {
  /** The smallest question there is; undefined when there is nobody to ask. */
  ask: () => Promise<unknown> | undefined
  /** Once per silence, while it may still pass. */
  silent: (forMs: number) => void
  /** The same for a batch, which the database may be busy with. */
  stuck: (forMs: number) => void
  lost: () => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  #timer: ReturnType<typeof setInterval> | undefined
  /** Ticks since the question was asked, or the batch was sent; undefined when none is under way. */
  #askedTicks: number | undefined
  #batchTicks: number | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** While the work waits for the database, its silence counts. One at a time. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#batchTicks = 0
    try {
      return await work
    } finally {
      this.#batchTicks = undefined
    }
  }

  #tick(): void {
    if (this.#askedTicks !== undefined) this.#askedTicks++
    if (this.#batchTicks !== undefined) this.#batchTicks++
    const { silent, stuck, lost } = this.#options
    if (this.#batchTicks === stuckTicks) stuck(stuckTicks * tickMs)
    if (this.#askedTicks === silentTicks) silent(silentTicks * tickMs)
    if (this.#askedTicks === lostTicks) lost()
    if (this.#askedTicks === undefined) this.#ask()
  }

  #ask(): void {
    const asked = this.#options.ask()
    if (asked === undefined) return
    this.#askedTicks = 0
    // A question that fails ends with its connection, which is told elsewhere.
    const over = () => {
      this.#askedTicks = undefined
    }
    asked.then(over, over)
  }
}
