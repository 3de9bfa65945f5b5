// Signs the ends of receipt chains in the background: an entry has its receipt from the moment it is written,
// and its chain is signed when it is quiet, or when many entries have come since. Knows no callers, and
// cannot fail a call.

import type { Signer } from '../../lib/crypto/signing.ts'
import { Loop, type Service } from '../../lib/loop.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Store } from '../../store/index.ts'
import { sealChain, unsealedAccounts } from '../../store/proof/seals.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface ReceiptWriterLimits {
  /** Chains are signed after this long without a new entry. */
  quietMs: number
  /** This many new entries start it although it is not quiet. */
  behindEntries: number
  /** It runs after this long in any case: other gateways write entries, too. */
  idleMs: number
  /** After a failure. */
  retryMs: number
}

const receiptWriterLimits: ReceiptWriterLimits = {
  quietMs: 1_000,
  behindEntries: 20_000,
  idleMs: 60_000,
  retryMs: 5_000,
}

/** Between two transactions: records waiting for the writer go first. */
const pauseMs = 2
const failure = 'receipts without a signature'

export class ReceiptWriter implements Service {
  readonly name = 'receipt-writer'
  readonly keys: SigningKeys
  readonly #store: Store
  readonly #limits: ReceiptWriterLimits
  /** Accounts with new entries of this gateway. */
  #moved = new Set<string>()
  #behind = 0
  #lastEntryMs = 0
  readonly #loop: Loop
  /** The current operation; one at a time. */
  #running: Promise<unknown> = Promise.resolve()

  constructor(
    store: Store,
    keys: SigningKeys,
    log: Log,
    limits: Partial<ReceiptWriterLimits> = {},
  ) {
    this.#store = store
    this.keys = keys
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

  /** Reported entries whose receipts are not signed yet. */
  get behind(): number {
    return this.#behind
  }

  start(): void {
    this.#loop.start()
  }

  /** Called for each entry: must cost nothing. */
  recorded(accountId: string): void {
    this.#behind++
    this.#moved.add(accountId)
    this.#lastEntryMs = performance.now()
    if (this.#behind === 1) this.#loop.wake(this.#limits.quietMs)
    else if (this.#behind === this.#limits.behindEntries) this.#loop.wake()
  }

  /** When it resolves, the chains are signed to their ends of this moment: that of one account, or all. */
  drain(accountId?: string): Promise<void> {
    return this.#inTurn(() => (accountId === undefined ? this.#sealAll() : this.#seal(accountId)))
  }

  /** What is not signed is signed after the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#running.catch(() => {})
  }

  /** Returns after how long it is due again. */
  async #due(): Promise<number> {
    const { quietMs, behindEntries, idleMs } = this.#limits
    const early = quietMs - (performance.now() - this.#lastEntryMs)
    if (early > 1 && this.#behind > 0 && this.#behind < behindEntries) return early
    const counted = this.#behind
    await this.#inTurn(() => (counted === 0 ? this.#sealAll() : this.#sealMoved()))
    this.#behind -= counted
    return this.#behind > 0 ? quietMs : idleMs
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#running.then(work)
    this.#running = turn.catch(() => {})
    return turn
  }

  async #sealMoved(): Promise<void> {
    // Those of now: one that gets entries all the time would otherwise come again and again.
    for (const account of [...this.#moved]) {
      if (this.#loop.isStopped) return
      // Before it is signed: what is written meanwhile is reported again.
      this.#moved.delete(account)
      await this.#seal(account).catch((error) => {
        this.#moved.add(account)
        throw error
      })
    }
  }

  async #sealAll(): Promise<void> {
    for await (const accounts of unsealedAccounts(this.#store.read)) {
      for (const account of accounts) {
        if (this.#loop.isStopped) return
        await this.#seal(account)
      }
    }
  }

  async #seal(accountId: string): Promise<void> {
    while (!(await this.#store.tx((tx) => sealChain(tx, accountId, this.signer)))) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
