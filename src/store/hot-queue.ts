// Group commit: records that arrive while one batch is being written make up the next. Knows how a
// record becomes flat cells, not how an engine writes them.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import type { Cell } from './schema.ts'

/** Order of the cells of one request; both engines' statements use it. */
export const requestColumns = [
  'request_id',
  'at_ms',
  'account_id',
  'token_id',
  'interface',
  'model',
  'channel',
  'upstream_request_id',
  'status',
  'error_code',
  'charge_nanos',
  'price_id',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'first_byte_ms',
  'total_ms',
  'detail',
] as const

export const entryColumns = [
  'at_ms',
  'account_id',
  'kind',
  'amount_nanos',
  'ref',
  'model',
  'unit',
  'quantity',
  'price_id',
  'estimated',
  'note',
] as const

const maxRecordsPerBatch = 512
/**
 * Under load a batch waits a moment for company: waking the writer and one commit cost far more
 * than a row. A store with little to do writes at once.
 */
const gatherMs = 1
/** A batch of at least this many records is the sign of load. */
const loadedBatch = 8

/** Rows laid end to end in one array each: the cheapest thing to send to another thread. */
export interface Batch {
  size: number
  requests: Cell[]
  entries: Cell[]
}

interface Gathering extends Batch {
  /** Shared by every record of the batch: they are stored together or not at all. */
  done: Promise<void>
  resolve: () => void
  reject: (error: unknown) => void
}

export class HotQueue {
  readonly #write: (batch: Batch) => Promise<void>
  readonly #waiting: Gathering[] = []
  #current: Gathering | undefined
  #busy = false
  #closed = false
  #lastSize = 0

  constructor(write: (batch: Batch) => Promise<void>) {
    this.#write = write
  }

  add(request: RequestRecord, entry: Entry | undefined): Promise<void> {
    const wrong = this.#closed ? 'the store is closed' : problemOf(request, entry)
    if (wrong !== undefined) return Promise.reject(new Error(wrong))
    let batch = this.#current
    if (batch === undefined || batch.size === maxRecordsPerBatch) {
      batch = newBatch()
      this.#current = batch
      this.#waiting.push(batch)
      if (!this.#busy) {
        this.#busy = true
        // After this turn of the event loop, so that all it records shares the first batch.
        setImmediate(() => void this.#drain())
      }
    }
    batch.size++
    pushRequest(batch.requests, request)
    if (entry !== undefined) pushEntry(batch.entries, entry)
    return batch.done
  }

  async #drain(): Promise<void> {
    for (;;) {
      if (this.#lastSize >= loadedBatch) await pause(gatherMs)
      const batch = this.#waiting.shift()
      this.#lastSize = batch?.size ?? 0
      if (batch === undefined) break
      if (batch === this.#current) this.#current = undefined
      try {
        await this.#write(batch)
        batch.resolve()
      } catch (error) {
        batch.reject(error)
      }
    }
    this.#busy = false
  }

  /** Takes no more records and waits for those it has. */
  async close(): Promise<void> {
    this.#closed = true
    const last = this.#waiting.at(-1)
    if (last !== undefined) await last.done.catch(() => {})
    while (this.#busy) await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function newBatch(): Gathering {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { size: 0, requests: [], entries: [], done: promise, resolve, reject }
}

/** Between cells when they travel as text. */
export const separator = '\x1f'

/** Words of callers and upstreams must not break a row apart; all other cells are our own. */
const cell = (text: string): string =>
  text.includes(separator) ? text.replaceAll(separator, ' ') : text

function pushRequest(cells: Cell[], request: RequestRecord): void {
  const { usage } = request
  cells.push(
    request.requestId,
    request.atMs,
    request.accountId,
    request.tokenId,
    request.interface,
    cell(request.model),
    request.channel ?? null,
    request.upstreamRequestId === undefined ? null : cell(request.upstreamRequestId),
    request.status,
    request.errorCode ?? null,
    request.chargeNanos,
    request.priceId ?? null,
    usage?.inputTokens ?? null,
    usage?.outputTokens ?? null,
    usage?.cacheReadTokens ?? null,
    usage?.cacheWriteTokens ?? null,
    request.firstByteMs ?? null,
    request.totalMs,
    JSON.stringify(request.detail),
  )
}

function pushEntry(cells: Cell[], entry: Entry): void {
  cells.push(
    entry.atMs,
    entry.accountId,
    entry.kind,
    entry.amountNanos,
    entry.ref,
    entry.model ?? null,
    entry.unit ?? null,
    entry.quantity ?? null,
    entry.priceId ?? null,
    entry.estimated === true ? 1 : 0,
    entry.note === undefined ? null : cell(entry.note),
  )
}

const largestNanos = 2n ** 63n - 1n

/** What the database would refuse is refused here, so that one bad record cannot sink its batch. */
function problemOf(request: RequestRecord, entry: Entry | undefined): string | undefined {
  if (!Number.isSafeInteger(request.atMs)) return 'a request needs a whole atMs'
  if (!Number.isSafeInteger(request.status)) return 'a request needs a whole status'
  if (!fits(request.chargeNanos)) return 'the charge of a request is out of range'
  if (entry === undefined) return undefined
  if (!Number.isSafeInteger(entry.atMs)) return 'an entry needs a whole atMs'
  if (!fits(entry.amountNanos)) return 'the amount of an entry is out of range'
  return signFits(entry) ? undefined : `a ${entry.kind} cannot be ${entry.amountNanos}`
}

const fits = (nanos: bigint) => nanos <= largestNanos && nanos >= -largestNanos

function signFits({ kind, amountNanos }: Entry): boolean {
  if (kind === 'charge' || kind === 'hold') return amountNanos <= 0n
  return kind === 'release' ? amountNanos >= 0n : amountNanos !== 0n
}
