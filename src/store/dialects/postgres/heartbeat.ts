// Detects whether the database still responds. A server that is down reports an error at once; one
// that hangs reports nothing, and a client would wait for the TCP time-out. Knows neither SQL nor
// health.

/** Time is counted in ticks, so that a delayed event loop is not mistaken for a silent server. */
const tickMs = 200
/** After this many ticks without a reply, new calls wait: it may be slow, or gone. */
const slowTicks = 3
/** Then it counts as gone. Callers wait for 5 s: enough is left to connect and try once more. */
const silentTicks = 12
/** A batch may also wait for a row lock or a disk. */
const slowBatchTicks = 5
const stuckTicks = 15
/** From then on the connections are abandoned: new ones report the state sooner. */
const lostTicks = 15

interface HeartbeatOptions {
  /** The heartbeat query; undefined when there is no connection. */
  ask: () => Promise<unknown> | undefined
  /** No reply for longer than usual: called once, and then `answered` or `silent`. */
  slow: (forMs: number, limitMs: number) => void
  answered: (afterMs: number) => void
  /** Called once per silence, while it may still pass. */
  silent: (forMs: number) => void
  /** A batch takes long, which the database may be busy executing. */
  slowBatch: (what: string, forMs: number) => void
  /** It takes too long to begin more. */
  stuck: (what: string, forMs: number) => void
  lost: () => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  #timer: ReturnType<typeof setInterval> | undefined
  /** Ticks since the query or batch was sent; undefined when none is in flight. */
  #askedTicks: number | undefined
  #batchTicks: number | undefined
  #batch = ''

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
  async during<T>(what: string, work: Promise<T>): Promise<T> {
    this.#batchTicks = 0
    this.#batch = what
    try {
      return await work
    } finally {
      this.#batchTicks = undefined
    }
  }

  #tick(): void {
    if (this.#askedTicks !== undefined) this.#askedTicks++
    if (this.#batchTicks !== undefined) this.#batchTicks++
    const { slow, silent, slowBatch, stuck, lost } = this.#options
    if (this.#batchTicks === slowBatchTicks) slowBatch(this.#batch, slowBatchTicks * tickMs)
    if (this.#batchTicks === stuckTicks) stuck(this.#batch, stuckTicks * tickMs)
    if (this.#askedTicks === slowTicks) slow(slowTicks * tickMs, silentTicks * tickMs)
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
      const ticks = this.#askedTicks ?? 0
      this.#askedTicks = undefined
      if (ticks >= slowTicks) this.#options.answered(ticks * tickMs)
    }
    asked.then(over, over)
  }
}
