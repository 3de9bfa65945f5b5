// Whether callers have calls in flight, or had some a moment ago: the work of batches then leaves most of the
// processor and of the database to them.
import { nextTurn } from '../../lib/turns.ts'

interface CallersOptions {
  /** In flight now, but for lines of batches. */
  hasCalls(): boolean
  nowMs(): number
}

/** So long after their last call callers are expected to come again. */
const calmMs = 1_000
/** Between two pieces of work beside them. */
export const besideMs = 20

export class Callers {
  readonly #options: CallersOptions
  #lastCallMs = Number.NEGATIVE_INFINITY

  constructor(options: CallersOptions) {
    this.#options = options
  }

  areAbout(): boolean {
    const nowMs = this.#options.nowMs()
    if (this.#options.hasCalls()) this.#lastCallMs = nowMs
    return nowMs - this.#lastCallMs < calmMs
  }

  /** Between writes of many rows, each of which keeps theirs waiting. */
  async giveWay(): Promise<void> {
    await (this.areAbout() ? Bun.sleep(besideMs) : nextTurn())
  }
}
