// Health of the store. A failed write makes it unhealthy and only a successful write makes it
// healthy again; one is tried every second, and sooner at first because most outages are short.

const probePausesMs = [100, 300, 1000] as const
/** An outage so soon after another is the same one: a disk that is nearly full takes a little. */
const sameOutageMs = 10_000

export class Health {
  readonly #probe: () => Promise<void>
  readonly #log: (level: 'warn' | 'error' | 'info', msg: string) => void
  #healthy = true
  #probes = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false
  #recoveredMs = -Infinity

  constructor(
    probe: () => Promise<void>,
    log: (level: 'warn' | 'error' | 'info', msg: string) => void,
  ) {
    this.#probe = probe
    this.#log = log
  }

  get healthy(): boolean {
    return this.#healthy
  }

  failed(error: unknown): void {
    if (this.#healthy) {
      this.#log('error', `the store cannot write: ${messageOf(error)}`)
      if (performance.now() - this.#recoveredMs > sameOutageMs) this.#probes = 0
    }
    this.#healthy = false
    if (this.#timer === undefined && !this.#stopped) this.#later()
  }

  /** Call after a write that is known to be stored. */
  wrote(): void {
    if (this.#healthy) return
    this.#healthy = true
    this.#recoveredMs = performance.now()
    this.#log('info', 'the store can write again')
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #later(): void {
    const pauseMs = probePausesMs[this.#probes++] ?? probePausesMs.at(-1)
    this.#timer = setTimeout(() => void this.#try(), pauseMs)
    this.#timer.unref()
  }

  async #try(): Promise<void> {
    try {
      await this.#probe()
      this.wrote()
    } catch {
      // Reported once, when it failed.
    }
    this.#timer = undefined
    if (!this.#healthy && !this.#stopped) this.#later()
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
