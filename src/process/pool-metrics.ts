// Combines the metrics of all workers: asks each, waits briefly, and uses the last values of late
// ones. Counts of an ended worker stay included, so that no sum decreases.
import { countedBy, type Family, mergeFamilies } from '../lib/telemetry/metrics.ts'

const maxWaitMs = 300

export class PoolMetrics<Worker extends object> {
  readonly #last = new Map<Worker, readonly Family[]>()
  readonly #waiting = new Map<Worker, () => void>()
  #departed: readonly Family[] = []
  /** Concurrent scrapes share it. */
  #round: Promise<Family[]> | undefined
  /** The workers that run now. */
  readonly #workers: () => Iterable<Worker>
  readonly #ask: (worker: Worker) => void

  constructor(workers: () => Iterable<Worker>, ask: (worker: Worker) => void) {
    this.#workers = workers
    this.#ask = ask
  }

  record(worker: Worker, families: readonly Family[]): void {
    this.#last.set(worker, families)
    this.#waiting.get(worker)?.()
  }

  left(worker: Worker): void {
    const last = this.#last.get(worker)
    if (last !== undefined) this.#departed = mergeFamilies([this.#departed, countedBy(last)])
    this.#last.delete(worker)
    this.#waiting.get(worker)?.()
  }

  read(): Promise<Family[]> {
    this.#round ??= this.#gather().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  async #gather(): Promise<Family[]> {
    const answers = [...this.#workers()].map((worker) => {
      const answer = Promise.withResolvers<void>()
      this.#waiting.set(worker, answer.resolve)
      this.#ask(worker)
      return answer.promise.then(() => this.#waiting.delete(worker))
    })
    await Promise.race([Promise.all(answers), Bun.sleep(maxWaitMs)])
    this.#waiting.clear()
    return mergeFamilies([...this.#last.values(), this.#departed])
  }
}
