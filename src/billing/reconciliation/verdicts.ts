// Buffers the outcomes of lines and writes them in line order: a random line in a large table costs
// a page, and neighbours share theirs.
import type { Store } from '../../store/index.ts'
import { type JudgedLine, putVerdicts, type Verdict } from '../../store/ledger/statements.ts'

/** About 10 MB of memory. */
const maxWaiting = 50_000
/** Few at a time, so that other writers can proceed. */
const perWrite = 1_000

export class Verdicts {
  readonly #store: Store
  readonly #statementId: string
  #waiting = new Map<number, Verdict>()

  constructor(store: Store, statementId: string) {
    this.#store = store
    this.#statementId = statementId
  }

  add(verdict: Verdict): void {
    this.#waiting.set(verdict.number, verdict)
  }

  /** The line as it will be stored. */
  of(line: JudgedLine): JudgedLine {
    const verdict = this.#waiting.get(line.number)
    return verdict === undefined ? line : { ...line, ...verdict }
  }

  async flushIfLarge(): Promise<void> {
    if (this.#waiting.size >= maxWaiting) await this.flush()
  }

  async flush(): Promise<void> {
    const sorted = [...this.#waiting.values()].sort((a, b) => a.number - b.number)
    this.#waiting = new Map()
    const { dialect } = this.#store
    for (let at = 0; at < sorted.length; at += perWrite) {
      const some = sorted.slice(at, at + perWrite)
      await this.#store.tx((tx) => putVerdicts(tx, dialect, this.#statementId, some))
    }
  }
}
