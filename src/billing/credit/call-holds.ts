// Holds of calls at the other gateways on one database. Such holds live in memory only: a gateway
// asks, and all live gateways reply.

import type { Cluster, Notice, Store } from '../../store/index.ts'
import { leasesBetween } from '../../store/ledger/credit-leases.ts'
import { listGateways } from '../../store/maintenance/gateways.ts'
import type { Balances } from '../balances.ts'
import type { Inquiries } from './inquiries.ts'

/** A gateway that does not reply in time is assumed to hold all that it has leased. */
const maxWaitMs = 500
/** A notice holds up to 8,000 bytes. */
const holdsPerNotice = 80

export class CallHolds {
  readonly #store: Store
  readonly #cluster: Cluster
  readonly #balances: Balances
  readonly #inquiries: Inquiries

  constructor(store: Store, cluster: Cluster, balances: Balances, inquiries: Inquiries) {
    this.#store = store
    this.#cluster = cluster
    this.#balances = balances
    this.#inquiries = inquiries
    cluster.subscribe((notice) => this.#reply(notice))
  }

  /** By account; without the holds of this gateway's own calls. */
  async of(accountIds: readonly string[]): Promise<Map<string, bigint>> {
    const held = new Map<string, bigint>()
    const sorted = [...accountIds].sort()
    const [firstId, lastId] = [sorted[0], sorted.at(-1)]
    if (firstId === undefined || lastId === undefined) return held
    const { gatewayId } = this.#cluster
    const others = (await listGateways(this.#store.read)).filter(({ id }) => id !== gatewayId)
    const ids = others.map(({ id }) => id)
    const range = { firstId, lastId }
    const question = { kind: 'holds_wanted', ...range } as const
    const { answers, missing } = await this.#inquiries.ask(question, ids, maxWaitMs)
    const add = (id: string, nanos: bigint) => held.set(id, (held.get(id) ?? 0n) + nanos)
    for (const answer of answers) {
      if (answer.kind !== 'holds' || missing.has(answer.by)) continue
      for (const [id, nanos] of answer.holds) add(id, BigInt(nanos))
    }
    const silent = await leasesBetween(this.#store.read, range, [...missing])
    for (const { accountId, nanos } of silent) add(accountId, nanos)
    return held
  }

  #reply(notice: Notice): void {
    if (notice.kind !== 'holds_wanted') return
    const { firstId, lastId, nonce } = notice
    const holds: [string, string][] = []
    for (const { id, callHoldsNanos } of this.#balances.all()) {
      if (callHoldsNanos > 0n && id >= firstId && id <= lastId) {
        holds.push([id, callHoldsNanos.toString()])
      }
    }
    do {
      const part = holds.splice(0, holdsPerNotice)
      const isLast = holds.length === 0
      this.#inquiries.answer(nonce, { kind: 'holds', holds: part, isLast })
    } while (holds.length > 0)
  }
}
