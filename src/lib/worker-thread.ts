// A thread for work that takes tens of milliseconds or more, one job after the other. Jobs take turns by key, so
// that one key with many jobs keeps another waiting for one of them at most. It starts with the first job and ends
// when it has had nothing to do for a while. Threads take turns, too: together they leave a core to the thread
// that serves all callers.
import { availableParallelism } from 'node:os'

const idleMs = 5_000
/** For one job; the longest take a second. A thread that hangs must not hold up all others. */
const maxJobMs = 30_000

interface Job<Work, Result> {
  work: Work
  transfer: ArrayBuffer[]
  resolve: (result: Result) => void
  reject: (error: Error) => void
}

/** How many jobs may run at once, over all threads that share them; those that wait go on in their order. */
export class SharedCores {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(cores = Math.max(1, availableParallelism() - 1)) {
    this.#free = cores
  }

  /** `go` is called at once, or when another job has given back its core. */
  take(go: () => void): void {
    if (this.#free === 0) this.#waiting.push(go)
    else {
      this.#free--
      go()
    }
  }

  giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

const ownCores = new SharedCores()

/** Messages are flat records: only those share their texts between threads. */
export class WorkerThread<Work, Result> {
  readonly #script: () => string
  readonly #purpose: string
  readonly #cores: SharedCores
  #isWaiting = false
  #current: Job<Work, Result> | undefined
  /** By key, in the order of their turns. */
  readonly #waiting = new Map<string, Job<Work, Result>[]>()
  #worker: Worker | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #late: ReturnType<typeof setTimeout> | undefined

  constructor(script: () => string, purpose: string, cores = ownCores) {
    this.#script = script
    this.#purpose = purpose
    this.#cores = cores
  }

  /** One job at a time: the memory of two would be needed at once. */
  run(key: string, work: Work, transfer: ArrayBuffer[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = { work, transfer, resolve, reject }
      const own = this.#waiting.get(key)
      if (own === undefined) this.#waiting.set(key, [job])
      else own.push(job)
      if (this.#current === undefined) this.#waitForCore()
    })
  }

  #waitForCore(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    clearTimeout(this.#idle)
    this.#cores.take(() => this.#next())
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
    const job = this.#take()!
    this.#isWaiting = false
    this.#current = job
    const worker = this.#worker ?? this.#start()
    this.#worker = worker
    this.#late = setTimeout(() => this.#fail(worker, 'it took too long'), maxJobMs)
    this.#late.unref()
    try {
      worker.postMessage(job.work, job.transfer)
    } catch (error) {
      this.#end()?.reject(error as Error)
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#script(), { smol: true, ref: false })
    worker.onmessage = ({ data }: MessageEvent<Result>) => this.#end()?.resolve(data)
    worker.onerror = ({ message }) => this.#fail(worker, message)
    worker.addEventListener('close', () => this.#fail(worker, 'it has ended'))
    return worker
  }

  #fail(worker: Worker, why: string): void {
    if (worker !== this.#worker) return
    this.#stop()
    this.#end()?.reject(new Error(`the thread for ${this.#purpose} failed: ${why}`))
  }

  /** The job that has ended. Another thread's goes before the next of this one. */
  #end(): Job<Work, Result> | undefined {
    const job = this.#current
    clearTimeout(this.#late)
    if (job === undefined) return undefined
    this.#current = undefined
    if (this.#waiting.size > 0) this.#waitForCore()
    else {
      this.#idle = setTimeout(() => this.#stop(), idleMs)
      this.#idle.unref()
    }
    this.#cores.giveBack()
    return job
  }

  #stop(): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}
