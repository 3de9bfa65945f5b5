// The void journal of a gateway on a disk that survives its processes: one directory per gateway, one file per
// process. Writes take time, as on a disk.
import type { Journal, Voided } from '../../src/billing/void-journal.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'

/** By the process that wrote it. */
export type JournalDir = Map<string, Voided[]>

export class SimJournal implements Journal {
  readonly #context: SimContext
  readonly #proc: Proc
  readonly #dir: JournalDir
  readonly #owner: string

  constructor(context: SimContext, proc: Proc, dir: JournalDir, owner: string) {
    this.#context = context
    this.#proc = proc
    this.#dir = dir
    this.#owner = owner
  }

  async append(voided: Voided): Promise<boolean> {
    await this.#context.world.pause(this.#context.random.store.between(0.1, 8), this.#proc)
    this.#dir.set(this.#owner, [...(this.#dir.get(this.#owner) ?? []), voided])
    return true
  }

  async clear(isSettled: () => boolean): Promise<void> {
    if (isSettled()) this.#dir.delete(this.#owner)
  }

  async takeOver(isAlive: (owner: string) => boolean): Promise<Voided[]> {
    const left = [...this.#dir.keys()].filter((owner) => owner !== this.#owner && !isAlive(owner))
    const found = left.flatMap((owner) => this.#dir.get(owner)!)
    for (const owner of left) this.#dir.delete(owner)
    if (found.length > 0) {
      this.#dir.set(this.#owner, [...(this.#dir.get(this.#owner) ?? []), ...found])
    }
    return found
  }
}
