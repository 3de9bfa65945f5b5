// Retry budget: extra attempts as a share of calls, so that upstream failures are never amplified.
// A quiet gateway has a small reserve, so that its first failure can be retried.

const share = 0.2
const reserve = 20
const maxLeft = 100

export class RetryBudget {
  #left = reserve

  recordCall(): void {
    this.#left = Math.min(maxLeft, this.#left + share)
  }

  /** The retry was not used. */
  giveBack(): void {
    this.#left = Math.min(maxLeft, this.#left + 1)
  }

  take(): boolean {
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
