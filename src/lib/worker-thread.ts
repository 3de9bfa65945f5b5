// A thread for work that takes tens of milliseconds or more, one job after the other. Jobs take turns by key, so
// that one key with many jobs keeps another waiting for one of them at most. It starts with the first job and ends
// when it has had nothing to do for a while.

const idleMs = 5_000
/** For one job; the longest take a second. A thread that hangs must not hold up all others. */
const maxJobMs = 30_000

interface Job<Work, Result> {
  work: Work
  transfer: ArrayBuffer[]
  resolve: (result: Result) => void
  reject: (error: Error) => void
}

/** Messages are flat records: only those share their texts between threads. */
export class WorkerThread<Work, Result> {
  readonly #script: () => string
  readonly #purpose: string
  #current: Job<Work, Result> | undefined
  /** By key, in the order of their turns. */
  readonly #waiting = new Map<string, Job<Work, Result>[]>()
  #worker: Worker | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #late: ReturnType<typeof setTimeout> | undefined

  constructor(script: () => string, purpose: string) {
    this.#script = script
    this.#purpose = purpose
  }

  /** One job at a time: the memory of two would be needed at once. */
  run(key: string, work: Work, transfer: ArrayBuffer[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = { work, transfer, resolve, reject }
      const own = this.#waiting.get(key)
      if (own === undefined) this.#waiting.set(key, [job])
      else own.push(job)
      if (this.#current === undefined) this.#next()
    })
  }

  /** A key with more jobs goes to the end of the line. */
  #take(): Job<Work, Result> | undefined {
    const next = this.#waiting.entries().next().value
    if (next === undefined) return undefined
    const [key, jobs] = next
    const job = jobs.shift()
    this.#waiting.delete(key)
    if (jobs.length > 0) this.#waiting.set(key, jobs)
    return job
  }

  #next(): void {
    const job = this.#take()
    this.#current = job
    clearTimeout(this.#idle)
    clearTimeout(this.#late)
    if (job === undefined) {
      this.#idle = setTimeout(() => this.#stop(), idleMs)
      this.#idle.unref()
      return
    }
    const worker = this.#worker ?? this.#start()
    this.#worker = worker
    worker.postMessage(job.work, job.transfer)
    this.#late = setTimeout(() => this.#fail(worker, 'it took too long'), maxJobMs)
    this.#late.unref()
  }

  #start(): Worker {
    const worker = new Worker(this.#script(), { smol: true, ref: false })
    worker.onmessage = ({ data }: MessageEvent<Result>) => {
      this.#current?.resolve(data)
      this.#next()
    }
    worker.onerror = ({ message }) => this.#fail(worker, message)
    worker.addEventListener('close', () => this.#fail(worker, 'it has ended'))
    return worker
  }

  #fail(worker: Worker, why: string): void {
    if (worker !== this.#worker) return
    this.#stop()
    this.#current?.reject(new Error(`the thread for ${this.#purpose} failed: ${why}`))
    this.#next()
  }

  #stop(): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}
