// The void journal of a gateway on a disk that outlives its processes: one directory for each gateway,
// one file for each of its processes. Takes its time, like a disk.
import type { Journal, Voided } from '../../src/billing/void-journal.ts'
import type { Stage } from '../world/context.ts'
import type { Proc } from '../world/world.ts'

/** By the process that wrote it. */
export type JournalDir = Map<string, Voided[]>

export class SimJournal implements Journal {
  readonly #stage: Stage
  readonly #proc: Proc
  readonly #dir: JournalDir
  readonly #owner: string

  constructor(stage: Stage, proc: Proc, dir: JournalDir, owner: string) {
    this.#stage = stage
    this.#proc = proc
    this.#dir = dir
    this.#owner = owner
  }

  async append(voided: Voided): Promise<boolean> {
    await this.#stage.world.pause(this.#stage.random.store.between(0.1, 8), this.#proc)
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
