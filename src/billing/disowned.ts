// Calls that were told to their callers as failed because their charge could not be written. The
// store may have taken the charge all the same, or may still take it: as soon as it answers again,
// each of them is written as free, and a charge that was there before is given back.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { findEntry } from '../store/entries.ts'
import type { Store } from '../store/index.ts'
import { absorb } from './absorb.ts'

const retryEveryMs = 250
/** About a kilobyte each. More than that in one outage stay as the store has them. */
const mostWaiting = 20_000

export class Disowned {
  readonly #store: Store
  readonly #nowMs: () => number
  readonly #giveBack: (entry: Entry) => Promise<void>
  readonly #waiting: { record: RequestRecord; chargeNanos: bigint }[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  /** `giveBack` books a credit, once. */
  constructor(
    store: Store,
    giveBack: (entry: Entry) => Promise<void>,
    nowMs: () => number = Date.now,
  ) {
    this.#store = store
    this.#giveBack = giveBack
    this.#nowMs = nowMs
  }

  add(record: RequestRecord): void {
    if (this.#closed || this.#waiting.length >= mostWaiting) return
    this.#waiting.push({ record: freed(record), chargeNanos: record.chargeNanos })
    this.#later()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #later(): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#run(), retryEveryMs)
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    while (this.#store.healthy && this.#waiting.length > 0 && !this.#closed) {
      const { record, chargeNanos } = this.#waiting[0]!
      try {
        await this.#free(record, chargeNanos)
      } catch {
        break
      }
      this.#waiting.shift()
    }
    this.#timer = undefined
    if (this.#waiting.length > 0) this.#later()
  }

  /** From the first write on, the charge itself can no longer come. */
  async #free(record: RequestRecord, chargeNanos: bigint): Promise<void> {
    const { accountId, tokenId, model, requestId: ref } = record
    const atMs = this.#nowMs()
    const entry: Entry = { atMs, accountId, tokenId, model, kind: 'charge', amountNanos: 0n, ref }
    await this.#store.record(record, entry)
    if (chargeNanos === 0n) return
    const charge = await findEntry(this.#store.read, ref, 'charge')
    if (charge === undefined || charge.amountNanos === 0n) return
    const amountNanos = -charge.amountNanos
    await this.#giveBack({ atMs, accountId, kind: 'credit', amountNanos, ref, note: notAnswered })
  }
}

const notAnswered = 'charged, but not answered'

function freed(record: RequestRecord): RequestRecord {
  const { channel = '', upstreamRequestId, chargeNanos } = record
  const detail = {
    ...structuredClone(record.detail),
    ending: 'failed' as const,
    error: 'the gateway could not record this call, so it was not answered',
  }
  const upstream = upstreamRequestId === undefined ? {} : { upstreamId: upstreamRequestId }
  if (chargeNanos > 0n)
    absorb(detail, { reason: 'not_delivered', channel, ...upstream }, chargeNanos)
  return { ...record, status: 503, errorCode: 'overloaded', chargeNanos: 0n, detail }
}
