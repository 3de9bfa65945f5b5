// How many extra attempts the gateway may make: a share of its calls, so that trouble upstream is
// never multiplied. A quiet gateway has a small reserve, or its first failure could not be mended.

const share = 0.2
const reserve = 20
const most = 100

export class RetryBudget {
  #left = reserve

  recordCall(): void {
    this.#left = Math.min(most, this.#left + share)
  }

  /** Nothing came of it. */
  giveBack(): void {
    this.#left = Math.min(most, this.#left + 1)
  }

  take(): boolean {
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
