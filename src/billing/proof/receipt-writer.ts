// Writes receipts for entries in the background: when it is quiet, or when too many are pending.
// Works in chunks with pauses, so that records waiting for the writer go first, and signs the ends
// of chains that have moved; on SQLite most entries have their receipts already. Knows no callers,
// and cannot fail a call.

import type { Signer } from '../../lib/crypto/signing.ts'
import { Loop, type Service } from '../../lib/loop.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Store } from '../../store/index.ts'
import type { Booked, ReceiptPass } from '../../store/proof/receipt-pass.ts'
import { book, newestEntryId } from '../../store/proof/receipts.ts'
import { sealChain, unsealedAccounts } from '../../store/proof/seals.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface ReceiptWriterLimits {
  /** Per transaction; about 10 µs each. */
  chunkEntries: number
  /** A pass starts after this long without a new entry. */
  quietMs: number
  /** This many pending entries start a pass although it is not quiet. */
  behindEntries: number
  /** A pass runs after this long in any case. */
  idleMs: number
  /** After a failure. */
  retryMs: number
}

const receiptWriterLimits: ReceiptWriterLimits = {
  chunkEntries: 512,
  quietMs: 1_000,
  behindEntries: 20_000,
  idleMs: 60_000,
  retryMs: 5_000,
}

/** On PostgreSQL, when entries that were skipped have settled. */
const comeAgainMs = 3_000
/** While it is not quiet: one part work and four parts pause. */
const pauseShare = 4
/** When pending entries exceed the limit this many times, the pause is as long as the work. */
const farBehind = 10
const shortPauseMs = 2
const failure = 'ledger entries without receipts'

export class ReceiptWriter implements Service {
  readonly name = 'receipt-writer'
  readonly keys: SigningKeys
  readonly #store: Store
  readonly #log: Log
  readonly #limits: ReceiptWriterLimits
  /** Accounts whose chain has moved since its end was signed. */
  readonly #unsealed = new Set<string>()
  #behind = 0
  #lastEntryMs = 0
  readonly #loop: Loop
  /** The current operation; one at a time. */
  #running: Promise<unknown> = Promise.resolve()
  #isRunning = false
  /** Drains that wait for their turn share one pass. */
  #nextDrain: Promise<void> | undefined
  #sealsAll = false

  constructor(
    store: Store,
    keys: SigningKeys,
    log: Log,
    limits: Partial<ReceiptWriterLimits> = {},
  ) {
    this.#store = store
    this.keys = keys
    this.#log = log
    this.#limits = { ...receiptWriterLimits, ...limits }
    this.#loop = new Loop({
      name: this.name,
      run: () => this.#due(),
      everyMs: this.#limits.idleMs,
      firstMs: this.#limits.quietMs,
      retryMs: this.#limits.retryMs,
      log,
      failure,
    })
  }

  get signer(): Signer {
    return this.keys.signer
  }

  /** Reported entries whose receipts are not written or not signed yet. */
  get behind(): number {
    return this.#behind
  }

  start(): void {
    this.#loop.start()
    // Chains that moved before the last process ended.
    this.#inTurn(() => this.#findUnsealed()).catch((error) => this.#log.warn(failure, { error }))
  }

  /** Called for each entry: must cost nothing. */
  recorded(): void {
    this.#behind++
    this.#lastEntryMs = performance.now()
    if (this.#isRunning) return
    if (this.#behind === 1) this.#loop.wake(this.#limits.quietMs)
    else if (this.#behind === this.#limits.behindEntries) this.#loop.wake()
  }

  /**
   * When it resolves, every entry that existed when it was called has its receipt, and the chains
   * are signed to their ends: that of one account, or all.
   */
  async drain(accountId?: string): Promise<void> {
    if (accountId === undefined) this.#sealsAll = true
    else this.#unsealed.add(accountId)
    this.#nextDrain ??= this.#inTurn(async () => {
      this.#nextDrain = undefined
      await this.#pass(true)
      if (this.#sealsAll) {
        this.#sealsAll = false
        await this.#findUnsealed()
      }
      await this.#seal()
    })
    return this.#nextDrain
  }

  /** Entries without a receipt get theirs after the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#running.catch(() => {})
  }

  /** Returns after how long it is due again. */
  async #due(): Promise<number> {
    const { quietMs, behindEntries } = this.#limits
    const early = quietMs - (performance.now() - this.#lastEntryMs)
    if (early > 1 && this.#behind > 0 && this.#behind < behindEntries) return early
    return this.#inTurn(() => this.#run())
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#running.then(async () => {
      this.#isRunning = true
      try {
        return await work()
      } finally {
        this.#isRunning = false
      }
    })
    this.#running = turn.catch(() => {})
    return turn
  }

  /** Returns when to run again. */
  async #run(): Promise<number> {
    if (this.#loop.isStopped) return this.#limits.idleMs
    const last = await this.#pass(false)
    await this.#seal()
    if (last === 'busy' || last.unsettled === true) return comeAgainMs
    return this.#behind > 0 ? this.#limits.quietMs : this.#limits.idleMs
  }

  /** One pass over all current entries; a patient one waits for other gateways. */
  async #pass(patient: boolean): Promise<Booked | 'busy'> {
    const upTo = patient ? await newestEntryId(this.#store.read) : Number.MAX_SAFE_INTEGER
    const limit = this.#limits.chunkEntries
    let pass: ReceiptPass | undefined
    for (;;) {
      const [counted, beganMs] = [this.#behind, performance.now()]
      const booked = await book(this.#store, { limit, pass, patient })
      const isEnd = booked === 'busy' || booked.pass === undefined
      // At the end of a pass all counted entries are booked, by this gateway or another.
      this.#behind -= isEnd ? counted : Math.min(counted, booked.entries)
      if (booked === 'busy') return booked
      for (const account of booked.accounts) this.#unsealed.add(account)
      pass = booked.pass
      if (pass === undefined || pass.afterId >= upTo || this.#loop.isStopped) return booked
      if (!patient && this.#nextDrain !== undefined) return booked
      await pause(patient ? shortPauseMs : this.#pauseMs(performance.now() - beganMs))
    }
  }

  #pauseMs(workMs: number): number {
    const isQuiet = performance.now() - this.#lastEntryMs >= this.#limits.quietMs
    if (isQuiet) return shortPauseMs
    const isFarBehind = this.#behind >= farBehind * this.#limits.behindEntries
    return Math.max(shortPauseMs, workMs * (isFarBehind ? 1 : pauseShare))
  }

  async #findUnsealed(): Promise<void> {
    for await (const accounts of unsealedAccounts(this.#store.read)) {
      for (const account of accounts) this.#unsealed.add(account)
    }
  }

  async #seal(): Promise<void> {
    for (const account of this.#unsealed) {
      if (this.#loop.isStopped) return
      for (;;) {
        const isDone = await this.#store.tx((tx) => sealChain(tx, account, this.signer))
        if (isDone) break
        await pause(shortPauseMs)
      }
      this.#unsealed.delete(account)
    }
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
