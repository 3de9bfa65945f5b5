// Those who want to be told how a task has ended: they take the notice, refuse it, take it and lose the
// answer, or want no more of them. What reached them is written down.
import type { Post } from '../../src/engine/callbacks/deliver.ts'
import type { Stage } from '../world/context.ts'
import type { Proc } from '../world/world.ts'

export interface Notice {
  id: string
  state: string
  requestId: string
}

export class Receivers {
  /** Notices that have arrived, by the task they are of. */
  readonly arrived = new Map<string, Notice[]>()
  /** Addresses that have said that they want no more. */
  readonly gone = new Set<string>()
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  postFrom(proc: Proc): Post {
    return (url, { body }) =>
      new Promise((resolve) => {
        const { world, random, faults } = this.#stage
        world.after(random.wire.between(5, 200), undefined, () => {
          const posted = this.#take(url, JSON.parse(body) as Notice)
          world.note(`notice to ${url}: ${JSON.stringify(posted)}`, proc)
          if (random.process.chance(faults.process.crash)) {
            return this.#stage.kill(proc, 'after a notice')
          }
          world.after(random.wire.between(5, 200), proc, () => resolve(posted))
        })
      })
  }

  #take(url: string, notice: Notice): Awaited<ReturnType<Post>> {
    const { random, faults } = this.#stage
    const { receiverFails, receiverGone } = faults.callers
    if (this.gone.has(url) || random.wire.chance(receiverGone)) {
      this.gone.add(url)
      return { status: 410 }
    }
    const fails = random.wire.chance(receiverFails)
    // Half of those that seem to fail have arrived.
    if (!fails || random.wire.chance(0.5)) this.#arrives(notice)
    if (!fails) return { status: 200 }
    return random.wire.chance(0.5) ? { status: 500 } : { problem: 'no answer came in time' }
  }

  #arrives(notice: Notice): void {
    const before = this.arrived.get(notice.id) ?? []
    this.arrived.set(notice.id, [...before, notice])
  }
}
