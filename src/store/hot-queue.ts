// Group commit: records that arrive while one batch is being written make up the next. Knows how a
// record becomes a row of text, not how an engine writes them.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { newShortId } from '../lib/ids.ts'
import { Histogram } from '../lib/metrics.ts'
import type { Commits } from './store.ts'

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
  'token_id',
  'tier',
] as const

/** What a row says to be absorbed is written down with it, where it can be added up. */
export const lossColumns = [
  'id',
  'at_ms',
  'account_id',
  'ref',
  'reason',
  'channel',
  'model',
  'upstream_id',
  'unit',
  'quantity',
  'amount_nanos',
  'is_estimate',
] as const

const maxRecordsPerBatch = 512
/**
 * Under load a batch waits for company, this long or until it is this large: waking the writer and
 * committing cost far more than a row does. A store with little to do writes at once.
 */
const gatherMs = 4
const gatherRecords = 64
/** A batch of at least this many records is the sign of load. */
const loadedBatch = 8

/** Columns in which the empty text stands for null. */
export const nullableInRequests: ReadonlySet<string> = new Set([
  'channel',
  'upstream_request_id',
  'error_code',
  'price_id',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'first_byte_ms',
])
export const nullableInEntries: ReadonlySet<string> = new Set([
  'model',
  'unit',
  'quantity',
  'price_id',
  'note',
  'token_id',
  'tier',
])
export const nullableInLosses: ReadonlySet<string> = new Set(['unit', 'quantity'])

/**
 * Rows laid end to end as text, each cell followed by the separator: the cheapest thing to make
 * and to send to another thread. The columns' types turn digits into numbers again.
 */
export interface Batch {
  size: number
  requests: string
  entries: string
  /** Empty for nearly all. */
  losses: string
}

interface Gathering extends Batch {
  /** Shared by every record of the batch: they are stored together or not at all. */
  done: Promise<void>
  resolve: () => void
  reject: (error: unknown) => void
}

/** In seconds. */
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export class HotQueue {
  readonly commits: Commits = { seconds: new Histogram(commitBounds), records: 0, failures: 0 }
  readonly #write: (batch: Batch) => Promise<void>
  readonly #waiting: Gathering[] = []
  #current: Gathering | undefined
  #busy = false
  #closed = false
  #lastSize = 0
  #enough: (() => void) | undefined

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
    batch.requests += requestRow(request)
    if (entry !== undefined) batch.entries += entryRow(entry)
    if (request.detail.absorbed !== undefined) batch.losses += lossRows(request)
    if (batch.size >= gatherRecords) this.#enough?.()
    return batch.done
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, gatherMs)
      this.#enough = () => {
        this.#enough = undefined
        clearTimeout(timer)
        resolve()
      }
      if ((this.#waiting[0]?.size ?? 0) >= gatherRecords) this.#enough()
    })
  }

  async #drain(): Promise<void> {
    for (;;) {
      if (this.#lastSize >= loadedBatch) await this.#gather()
      const batch = this.#waiting.shift()
      this.#lastSize = batch?.size ?? 0
      if (batch === undefined) break
      if (batch === this.#current) this.#current = undefined
      const began = performance.now()
      try {
        await this.#write(batch)
        this.commits.records += batch.size
        batch.resolve()
      } catch (error) {
        this.commits.failures++
        batch.reject(error)
      }
      this.commits.seconds.note((performance.now() - began) / 1000)
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

function newBatch(): Gathering {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { size: 0, requests: '', entries: '', losses: '', done: promise, resolve, reject }
}

const S = '\x1f'

/** Words of callers and upstreams must not break a row apart; all other cells are our own. */
const cell = (text: string): string => (text.includes(S) ? text.replaceAll(S, ' ') : text)

function requestRow(request: RequestRecord): string {
  const { usage } = request
  return (
    `${request.requestId}${S}${request.atMs}${S}${request.accountId}${S}${request.tokenId}${S}` +
    `${request.interface}${S}${cell(request.model)}${S}${request.channel ?? ''}${S}` +
    `${cell(request.upstreamRequestId ?? '')}${S}${request.status}${S}` +
    `${request.errorCode ?? ''}${S}${request.chargeNanos}${S}${request.priceId ?? ''}${S}` +
    `${usage?.inputTokens ?? ''}${S}${usage?.outputTokens ?? ''}${S}` +
    `${usage?.cacheReadTokens ?? ''}${S}${usage?.cacheWriteTokens ?? ''}${S}` +
    `${request.firstByteMs ?? ''}${S}${request.totalMs}${S}${JSON.stringify(request.detail)}${S}`
  )
}

function entryRow(entry: Entry): string {
  return (
    `${entry.atMs}${S}${entry.accountId}${S}${entry.kind}${S}${entry.amountNanos}${S}` +
    `${entry.ref}${S}${entry.model ?? ''}${S}${entry.unit ?? ''}${S}${entry.quantity ?? ''}${S}` +
    `${entry.priceId ?? ''}${S}${entry.estimated === true ? 1 : 0}${S}${cell(entry.note ?? '')}${S}` +
    `${entry.tokenId ?? ''}${S}${entry.tier ?? ''}${S}`
  )
}

function lossRows({ requestId, atMs, totalMs, accountId, model, detail }: RequestRecord): string {
  const endedMs = atMs + totalMs
  const rows = (detail.absorbed ?? []).map(
    ({ reason, channel, upstreamId = '', unit = '', quantity = '', nanos, estimated }) =>
      `${newShortId('loss', endedMs)}${S}${endedMs}${S}${accountId}${S}${requestId}${S}` +
      `${reason}${S}${cell(channel)}${S}${cell(model)}${S}${cell(upstreamId)}${S}${unit}${S}` +
      `${quantity}${S}${nanos}${S}${estimated === true ? 1 : 0}${S}`,
  )
  return rows.join('')
}

export function cellsOf(rows: string): string[] {
  const cells = rows.split(S)
  cells.pop()
  return cells
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
