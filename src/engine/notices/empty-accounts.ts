// Tells of the first call that is refused for want of balance since the account's last credit. The
// caller is refused after the notice is written, so that a crash cannot lose it. Later refusals are
// known from memory.
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { lastCreditOf } from '../../store/deliveries/low-balances.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { BaseDeps } from '../base-deps.ts'

/** Another gateway's credit may have been missed: after this the store is asked again. */
const knownForMs = 10_000
const maxAccounts = 10_000

interface EmptyDeps extends BaseDeps {
  readonly subscriptions: { wants(...types: readonly NoticeType[]): boolean }
  readonly jobs: { readonly notices: { wake(): void } }
}

export class EmptyAccounts {
  readonly #deps: EmptyDeps
  /** Accounts that have been told, each with the time until which that is known. */
  readonly #notified = new Map<string, number>()

  constructor(deps: EmptyDeps) {
    this.#deps = deps
    deps.store.cluster?.subscribe((notice) => {
      if (notice.kind === 'funded') this.credited(notice.accountId)
    })
  }

  /** A refusal of this account would have to be told. */
  isDue(accountId: string): boolean {
    if (!this.#deps.subscriptions.wants('balance.empty')) return false
    return (this.#notified.get(accountId) ?? 0) <= performance.now()
  }

  credited(accountId: string): void {
    this.#notified.delete(accountId)
  }

  /** Never fails: a notice that could not be written is left to the next refusal. */
  async refused(accountId: string): Promise<void> {
    if (!this.isDue(accountId)) return
    const { store, clock, jobs, log } = this.#deps
    if (this.#notified.size >= maxAccounts) this.#notified.clear()
    this.#notified.set(accountId, performance.now() + knownForMs)
    try {
      const isNew = await store.tx(async (tx) => {
        const account = await findAccount(tx, accountId)
        if (account === undefined) return false
        const credit = await lastCreditOf(tx, accountId)
        const data = { account: account.name, balance: formatNanos(account.balanceNanos) }
        const once = `balance.empty ${accountId} ${credit}`
        return notify(tx, { type: 'balance.empty', atMs: clock.nowMs(), data, once })
      })
      if (isNew) jobs.notices.wake()
    } catch (error) {
      this.#notified.delete(accountId)
      log.warn('a notice about an empty account could not be written', { error })
    }
  }
}
