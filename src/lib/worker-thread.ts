// A thread for work that takes tens of milliseconds or more, one job after the other. It starts with the
// first job and ends when it has had nothing to do for a while.

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
  readonly #jobs: Job<Work, Result>[] = []
  #worker: Worker | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #late: ReturnType<typeof setTimeout> | undefined

  constructor(script: () => string, purpose: string) {
    this.#script = script
    this.#purpose = purpose
  }

  /** One job at a time: the memory of two would be needed at once. */
  run(work: Work, transfer: ArrayBuffer[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ work, transfer, resolve, reject })
      if (this.#jobs.length === 1) this.#next()
    })
  }

  #next(): void {
    const job = this.#jobs[0]
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
      this.#jobs.shift()?.resolve(data)
      this.#next()
    }
    worker.onerror = ({ message }) => this.#fail(worker, message)
    worker.addEventListener('close', () => this.#fail(worker, 'it has ended'))
    return worker
  }

  #fail(worker: Worker, why: string): void {
    if (worker !== this.#worker) return
    this.#stop()
    this.#jobs.shift()?.reject(new Error(`the thread for ${this.#purpose} failed: ${why}`))
    this.#next()
  }

  #stop(): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}
