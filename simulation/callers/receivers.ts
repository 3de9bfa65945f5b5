// Receivers of callbacks: they accept a callback, refuse it, accept it and lose the reply, or unsubscribe.
// Records what reached them.
import type { Post } from '../../src/engine/callbacks/deliver.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'

interface Notice {
  id: string
  state: string
  requestId: string
}

export class Receivers {
  /** Callbacks that have arrived, by task. */
  readonly arrived = new Map<string, Notice[]>()
  /** Addresses that have unsubscribed. */
  readonly gone = new Set<string>()
  readonly #context: SimContext

  constructor(context: SimContext) {
    this.#context = context
  }

  postFrom(proc: Proc): Post {
    return (url, { body }) =>
      new Promise((resolve) => {
        const { world, random, faults } = this.#context
        world.after(random.wire.between(5, 200), undefined, () => {
          const posted = this.#take(url, JSON.parse(body) as Notice)
          world.note(`notice to ${url}: ${JSON.stringify(posted)}`, proc)
          if (random.process.chance(faults.process.crash)) {
            return this.#context.kill(proc, 'after a notice')
          }
          world.after(random.wire.between(5, 200), proc, () => resolve(posted))
        })
      })
  }

  #take(url: string, notice: Notice): Awaited<ReturnType<Post>> {
    const { random, faults } = this.#context
    const { receiverFails, receiverGone } = faults.callers
    if (this.gone.has(url) || random.wire.chance(receiverGone)) {
      this.gone.add(url)
      return { status: 410 }
    }
    const fails = random.wire.chance(receiverFails)
    // Half of the failed deliveries have arrived.
    if (!fails || random.wire.chance(0.5)) this.#arrives(notice)
    if (!fails) return { status: 200 }
    return random.wire.chance(0.5) ? { status: 500 } : { problem: 'no answer came in time' }
  }

  #arrives(notice: Notice): void {
    const before = this.arrived.get(notice.id) ?? []
    this.arrived.set(notice.id, [...before, notice])
  }
}
