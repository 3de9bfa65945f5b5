// Makes outcomes of lines durable, many in one transaction. An outcome of a batch that another gateway has
// claimed meanwhile is not written.

import { type Claim, holds } from '../../store/batches/batches.ts'
import { type LineRow, putLines } from '../../store/batches/lines.ts'
import type { Store } from '../../store/index.ts'

interface Waiting {
  row: LineRow
  claim: Claim
  done: (isWritten: boolean) => void
  failed: (error: unknown) => void
}

const maxAtOnce = 200

export class LineWriter {
  readonly #store: Store
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(store: Store) {
    this.#store = store
  }

  /** False: the claim is lost. */
  put(claim: Claim, row: LineRow): Promise<boolean> {
    return new Promise((done, failed) => {
      this.#waiting.push({ row, claim, done, failed })
      if (!this.#isWriting) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, maxAtOnce)
      try {
        const held = await this.#commit(some)
        for (const { claim, done } of some) done(held.has(claim.batchId))
      } catch (error) {
        for (const { failed } of some) failed(error)
      }
    }
    this.#isWriting = false
  }

  #commit(some: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const { dialect } = this.#store
    const claims = new Map(some.map(({ claim }) => [claim.batchId, claim]))
    return this.#store.tx(async (tx) => {
      const held = new Set<string>()
      // In one order everywhere: two gateways never wait for each other.
      for (const id of [...claims.keys()].sort()) {
        if (await holds(tx, dialect, claims.get(id)!)) held.add(id)
      }
      await putLines(
        tx,
        some.flatMap(({ row }) => (held.has(row.batchId) ? [row] : [])),
      )
      return held
    })
  }
}
