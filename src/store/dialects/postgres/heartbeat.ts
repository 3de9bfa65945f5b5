// Detects whether the database still responds. A server that is down reports an error at once; one
// that hangs reports nothing, and a client would wait for the TCP time-out. Knows neither SQL nor
// health.

/** Time is counted in ticks, so that a delayed event loop is not mistaken for a silent server. */
const tickMs = 200
/** After this many ticks without a reply, no new work starts. */
const silentTicks = 3
/** A batch may wait for a row lock or a disk, which the heartbeat query never does. */
const stuckTicks = 5
/** From then on the connections are abandoned: new ones report the state sooner. */
const lostTicks = 15

interface HeartbeatOptions {
  /** The heartbeat query; undefined when there is no connection. */
  ask: () => Promise<unknown> | undefined
  /** Called once per silence, while it may still pass. */
  silent: (forMs: number) => void
  /** The same for a batch, which the database may be busy executing. */
  stuck: (forMs: number) => void
  lost: () => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  #timer: ReturnType<typeof setInterval> | undefined
  /** Ticks since the query or batch was sent; undefined when none is in flight. */
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

  /** Counts the database as silent while the work waits for it. One at a time. */
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
    // A query that fails ends with its connection, which is reported elsewhere.
    const over = () => {
      this.#askedTicks = undefined
    }
    asked.then(over, over)
  }
}
