// Questions and replies among gateways on one database, sent as notices: a question waits for the
// replies of the named gateways, within a limit. Knows no money.
import { newShortId } from '../../lib/crypto/ids.ts'
import type { Answer, Cluster, Notice, Question, Reply } from '../../store/index.ts'

/** For readers: a gateway that does not reply in time counts with all it has leased. */
export const readWaitMs = 500

interface Inquiry {
  /** Gateways that have not replied, in time. */
  readonly missing: Set<string>
  readonly answers: Answer[]
  readonly done: () => void
}

export class Inquiries {
  readonly #cluster: Cluster
  readonly #pending = new Map<string, Inquiry>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    cluster.subscribe((notice) => this.#reply(notice))
  }

  /** Resolves when all of these gateways have replied, or the time is over. */
  async ask(question: Question, gatewayIds: readonly string[], maxMs: number): Promise<Inquiry> {
    const nonce = newShortId('ask')
    const { promise, resolve } = Promise.withResolvers<void>()
    const pending = { missing: new Set(gatewayIds), answers: [], done: resolve }
    if (pending.missing.size === 0) return pending
    this.#pending.set(nonce, pending)
    const timer = setTimeout(resolve, maxMs)
    this.#cluster.publish({ ...question, nonce })
    await promise
    clearTimeout(timer)
    this.#pending.delete(nonce)
    return pending
  }

  /** Asks them to return what they do not hold; false when all have replied, and none had anything. */
  async recall(question: Question, holders: readonly string[], maxMs: number): Promise<boolean> {
    const { answers, missing } = await this.ask(question, holders, maxMs)
    // A gateway that does not reply may be dead.
    if (missing.size > 0) await this.#cluster.sweep()
    return missing.size > 0 || answers.some((each) => 'nanos' in each && each.nanos !== '0')
  }

  /** Replies to such recalls with what was returned; if that is unknown, it does not reply. */
  onRecall(
    kind: 'wanted' | 'budget_wanted',
    give: (accountId: string | undefined) => Promise<bigint | undefined>,
  ): void {
    this.#cluster.subscribe(async (notice) => {
      if (notice.kind !== kind) return
      const nanos = await give(notice.accountId).catch(() => undefined)
      if (nanos === undefined) return
      this.answer(notice.nonce, { kind: 'returned', nanos: nanos.toString() })
    })
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
