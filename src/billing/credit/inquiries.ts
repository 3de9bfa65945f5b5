// Questions and replies among gateways on one database, sent as notices: a question waits for the
// replies of the named gateways, within a limit. Knows no money.
import { newShortId } from '../../lib/crypto/ids.ts'
import type { Answer, Cluster, Notice, Question, Reply } from '../../store/index.ts'

interface Pending {
  /** Gateways that have not replied yet. */
  readonly missing: Set<string>
  readonly answers: Answer[]
  done: () => void
}

interface Answered {
  answers: readonly Answer[]
  /** Gateways that did not reply in time. */
  missing: ReadonlySet<string>
}

export class Inquiries {
  readonly #cluster: Cluster
  readonly #pending = new Map<string, Pending>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    cluster.subscribe((notice) => this.#reply(notice))
  }

  /** Resolves when all of these gateways have replied, or the time is over. */
  async ask(question: Question, gatewayIds: readonly string[], maxMs: number): Promise<Answered> {
    const nonce = newShortId('ask')
    const { promise, resolve } = Promise.withResolvers<void>()
    const pending: Pending = { missing: new Set(gatewayIds), answers: [], done: resolve }
    if (pending.missing.size === 0) return pending
    this.#pending.set(nonce, pending)
    const timer = setTimeout(resolve, maxMs)
    this.#cluster.publish({ ...question, nonce })
    await promise
    clearTimeout(timer)
    this.#pending.delete(nonce)
    return pending
  }

  answer(nonce: string, reply: Reply): void {
    this.#cluster.publish({ ...reply, nonce, by: this.#cluster.gatewayId })
  }

  #reply(notice: Notice): void {
    if (!('by' in notice)) return
    const pending = this.#pending.get(notice.nonce)
    if (pending === undefined) return
    pending.answers.push(notice)
    if (notice.kind === 'holds' && !notice.isLast) return
    pending.missing.delete(notice.by)
    if (pending.missing.size === 0) pending.done()
  }
}
