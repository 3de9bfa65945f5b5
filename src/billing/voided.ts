// Calls that were reported to their callers as failed because their charge could not be written.
// The store may have taken the charge all the same, or may still take it: as soon as it responds
// again, each of them is written as free, and an existing charge is credited back. They are in the
// void journal before their callers get the reply, so that the next process can continue after a
// crash.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { raiseAlert } from '../store/catalog/alerts.ts'
import type { Store } from '../store/index.ts'
import { findEntry } from '../store/ledger/entries.ts'
import { clearShort } from '../store/ledger/short-accounts.ts'
import { listGateways } from '../store/maintenance/gateways.ts'
import { addLoss, undoShortLoss } from './call-loss.ts'
import type { Journal, Voided } from './void-journal.ts'

const retryEveryMs = 250
/** About a kilobyte each. Further calls of one outage stay as the store has them. */
const maxWaiting = 20_000
/** Written together. */
const maxAtOnce = 64
/** Interval of checks for journals of dead processes. */
const takeOverEveryMs = 5_000

export class VoidedCalls {
  readonly #store: Store
  readonly #nowMs: () => number
  readonly #giveBack: (entry: Entry) => Promise<void>
  readonly #journal: Journal | undefined
  readonly #waiting: Voided[] = []
  /** Calls being written. */
  #freeing = 0
  #isUnkept = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #takeOverTimer: ReturnType<typeof setInterval> | undefined
  #closed = false

  /** `giveBack` books a credit, once. Without a journal, voided calls are lost with the process. */
  constructor(
    store: Store,
    giveBack: (entry: Entry) => Promise<void>,
    { nowMs, journal }: { nowMs: () => number; journal?: Journal | undefined },
  ) {
    this.#store = store
    this.#giveBack = giveBack
    this.#nowMs = nowMs
    this.#journal = journal
  }

  /** Takes over the journals of dead processes, now and at intervals. */
  async start(): Promise<void> {
    if (this.#journal === undefined) return
    await this.#takeOver()
    if (this.#store.cluster === undefined) return
    this.#takeOverTimer = setInterval(() => {
      if (this.#store.healthy) this.#takeOver().catch(() => {})
    }, takeOverEveryMs)
    this.#takeOverTimer.unref()
  }

  /** Resolves when its caller may get the reply. */
  async add(record: RequestRecord): Promise<void> {
    if (this.#closed || this.#waiting.length >= maxWaiting) return
    const isShort = undoShortLoss(record)
    const voided = { record: freed(record), chargeNanos: record.chargeNanos, isShort }
    this.#waiting.push(voided)
    this.#later()
    if (this.#journal === undefined) return
    if (!(await this.#journal.append(voided))) this.#isUnkept = true
    this.#later()
  }

  /** Unsettled calls stay in the journal. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    clearInterval(this.#takeOverTimer)
  }

  async #takeOver(): Promise<void> {
    const { cluster, read } = this.#store
    const alive =
      cluster === undefined ? [] : (await listGateways(read)).map((gateway) => gateway.id)
    const left = await this.#journal!.takeOver((owner) => alive.includes(owner))
    if (left.length === 0) return
    this.#waiting.push(...left)
    this.#later()
  }

  #later(): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#run(), retryEveryMs)
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    while (this.#store.healthy && this.#waiting.length > 0 && !this.#closed) {
      const some = this.#waiting.splice(0, maxAtOnce)
      this.#freeing = some.length
      const ends = await Promise.allSettled(some.map((each) => this.#free(each)))
      this.#freeing = 0
      const left = some.filter((_, at) => ends[at]!.status === 'rejected')
      // Calls of a locked account do not delay the others.
      this.#waiting.push(...left)
      if (left.length > 0) break
    }
    if (this.#isUnkept && this.#store.healthy) await this.#alert().catch(() => {})
    this.#timer = undefined
    if (this.#waiting.length > 0) this.#later()
    else await this.#journal?.clear(() => this.#waiting.length + this.#freeing === 0)
  }

  async #alert(): Promise<void> {
    const message =
      'the void journal could not be written: is the data directory full or read-only?'
    const subject = this.#store.cluster?.gatewayId ?? 'data directory'
    const atMs = this.#nowMs()
    await this.#store.tx((tx) => raiseAlert(tx, { kind: 'void_journal', subject, message, atMs }))
    this.#isUnkept = false
  }

  /** After the first write, the charge itself can no longer be written. */
  async #free({ record, chargeNanos, isShort = false }: Voided): Promise<void> {
    const { accountId, requestId: ref } = record
    const atMs = this.#nowMs()
    await this.#store.record(record)
    if (chargeNanos === 0n && !isShort) return
    const charge = await findEntry(this.#store.read, ref, 'charge')
    // The charge that was in doubt names its unit.
    if (isShort && charge?.unit === undefined) {
      await this.#store.tx((tx) => clearShort(tx, accountId, ref), accountId)
    }
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
    addLoss(detail, { reason: 'not_delivered', channel, ...upstream }, chargeNanos)
  return { ...record, status: 503, errorCode: 'overloaded', chargeNanos: 0n, charge: {}, detail }
}
