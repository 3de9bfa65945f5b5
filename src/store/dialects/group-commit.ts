// Group commit: records that arrive while one batch is being written form the next. Records of one
// account in a batch succeed or fail together. Knows neither rows nor how a dialect writes them.
import type { RequestRecord } from '../../contract/requests.ts'
import { Histogram } from '../../lib/telemetry/metrics.ts'
import { cellsOfCall } from '../rows/call-row.ts'
import type { Commits } from '../store.ts'
import { lossRows, problemOf } from './group-commit-rows.ts'

const maxRecordsPerBatch = 512
/**
 * Turns of the event loop that a batch with several records waits for more, unless it is this large:
 * waking the writer and committing cost far more than a row does. Under load a turn takes long and
 * brings many; with few callers it takes no time, so none waits for records that cannot come.
 */
const gatherTurns = 4
const gatherRecords = 64

/** Outcome of one account's records in one batch: stored together or not at all. */
interface Fate {
  /** The batch writer has set them aside and settles them later. */
  isAside: boolean
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Rows as text, see group-commit-rows.ts. */
export interface Rows {
  size: number
  requests: string
  /** Empty for nearly all records. */
  losses: string
  /** Arrival of the first record, by the monotonic clock. */
  sinceMs: number
}

/** Records that are written together. */
export interface Batch extends Rows {
  /** By account. */
  readonly fates: ReadonlyMap<string, Fate>
}

/** Records of one account. */
export interface Part extends Rows {
  readonly accountId: string
  readonly fate: Fate
}

/** Holds records whose account cannot be written at the moment. */
export interface Aside {
  has(accountId: string): boolean
  put(part: Part): void
  close(): Promise<void>
}

/** In seconds. */
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

class Gathering implements Batch {
  size = 0
  requests = ''
  losses = ''
  readonly sinceMs = performance.now()
  readonly fates = new Map<string, Fate>()
}

export class GroupCommit {
  readonly commits: Commits = { seconds: new Histogram(commitBounds), records: 0, failures: 0 }
  readonly #write: (batch: Batch) => Promise<void>
  readonly #aside: Aside | undefined
  readonly #waiting: Gathering[] = []
  #current: Gathering | undefined
  #busy = false
  #closed = false
  constructor(write: (batch: Batch) => Promise<void>, aside?: Aside) {
    this.#write = write
    this.#aside = aside
  }

  add(request: RequestRecord): Promise<void> {
    const wrong = this.#closed ? 'the store is closed' : problemOf(request)
    if (wrong !== undefined) return Promise.reject(new Error(wrong))
    const { accountId } = request
    if (this.#aside?.has(accountId)) {
      const fate = newFate()
      const part = { ...noRows, sinceMs: performance.now(), accountId, fate }
      addTo(part, request)
      this.#aside.put(part)
      return fate.done
    }
    const batch = this.#gathering()
    let fate = batch.fates.get(accountId)
    if (fate === undefined) {
      fate = newFate()
      batch.fates.set(accountId, fate)
    }
    addTo(batch, request)
    return fate.done
  }

  /** Durable when it resolves, like a record, and leaves nothing: can a record be written? */
  probe(): Promise<void> {
    const { fates } = this.#gathering()
    const fate = fates.get(noAccount) ?? newFate()
    fates.set(noAccount, fate)
    return fate.done
  }

  #gathering(): Gathering {
    const current = this.#current
    if (current !== undefined && current.size < maxRecordsPerBatch) return current
    const batch = new Gathering()
    this.#current = batch
    this.#waiting.push(batch)
    if (!this.#busy) {
      this.#busy = true
      // After this turn of the event loop, so that all its records share the first batch.
      setImmediate(() => void this.#drain())
    }
    return batch
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await gathered(this.#waiting[0]!)
      const batch = this.#waiting.shift()!
      if (batch === this.#current) this.#current = undefined
      const began = performance.now()
      try {
        await this.#write(batch)
        for (const fate of batch.fates.values()) if (!fate.isAside) fate.resolve()
        this.commits.records += batch.size
      } catch (error) {
        this.commits.failures++
        for (const fate of batch.fates.values()) if (!fate.isAside) fate.reject(error)
      }
      this.commits.seconds.note((performance.now() - began) / 1000)
    }
    this.#busy = false
  }

  /** Accepts no more records and waits for pending ones. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#busy) await new Promise((resolve) => setTimeout(resolve, 1))
    await this.#aside?.close()
  }
}

const noAccount = ''
const noRows = { size: 0, requests: '', losses: '' }

async function gathered(batch: Rows): Promise<void> {
  const isOpen = () => batch.size > 1 && batch.size < gatherRecords
  for (let turn = 0; turn < gatherTurns && isOpen(); turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

function newFate(): Fate {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { isAside: false, done: promise, resolve, reject }
}

function addTo(rows: Rows, request: RequestRecord): void {
  rows.size++
  rows.requests += cellsOfCall(request)
  if (request.detail.loss !== undefined) rows.losses += lossRows(request)
}
