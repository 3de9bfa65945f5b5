// The losses of one account by one reason, summed for an alert.
import type { LossReason } from '../contract/ledger.ts'
import { formatNanos } from '../lib/text/decimal.ts'

export class LossSum {
  readonly accountId: string
  readonly reason: LossReason
  #losses = 0
  #nanos = 0n
  #lastRef = ''

  constructor(accountId: string, reason: LossReason) {
    this.accountId = accountId
    this.reason = reason
  }

  add(ref: string, amountNanos: bigint): void {
    this.#losses++
    this.#nanos += amountNanos
    this.#lastRef = ref
  }

  get message(): string {
    const count = this.#losses === 1 ? 'a loss' : `${this.#losses} losses`
    return (
      `${count} of ${formatNanos(this.#nanos)} in all for account ${this.accountId} ` +
      `(${this.reason}) since this gateway started, the last for ${this.#lastRef}; listed at /losses`
    )
  }
}
