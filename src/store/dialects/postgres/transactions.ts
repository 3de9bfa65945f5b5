// Transactions of the pool: a bounded number at once, retried after a serialization race. One that
// waits for a lock moves to the few connections reserved for locked work, and so do later ones for
// the same account, until one of them succeeds.
import type { Kysely } from 'kysely'
import type { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import type { Schema } from '../../schema.ts'
import type { Store } from '../../store.ts'
import { StoreBusy } from '../errors.ts'
import type { Health } from '../health.ts'
import { isCut, isDatabaseTrouble, isLocked, isRaced, pause } from './connection.ts'
import { Semaphore } from './semaphore.ts'

/** The other pool connections are for reads. */
const maxTransactions = 6
const maxTries = 5
/** Total wait for a lock, over all attempts. */
const lockWaitMs = 4_700
const lockPauseMs = 50

interface TransactionOptions {
  db: Kysely<Schema>
  health: Health
  failed: (error: unknown) => void
  /** Uses connections of its own. Accounts take turns: one that stays locked does not delay the others. */
  aside: { db: Kysely<Schema>; places: FairSemaphore }
  /** Whether the account is already known to be locked. */
  isStuck: (accountId: string) => boolean
}

export function transactionsOf(options: TransactionOptions): Store['tx'] {
  const { db, health, failed, aside } = options
  const semaphore = new Semaphore(maxTransactions)
  const stuck = new Set<string>()
  return async (work, accountId) => {
    const sinceMs = performance.now()
    let isAside = accountId !== undefined && (stuck.has(accountId) || options.isStuck(accountId))
    let races = 0
    for (;;) {
      let isWorked = false
      const once = (database: Kysely<Schema>) =>
        database.transaction().execute(async (tx) => {
          const result = await work(tx)
          isWorked = true
          return result
        })
      try {
        const result = await (isAside
          ? (aside.places.run(accountId ?? '', () => once(aside.db)) as ReturnType<typeof once>)
          : semaphore.run(() => once(db)))
        if (accountId !== undefined && stuck.size > 0) stuck.delete(accountId)
        return result
      } catch (error) {
        if (isLocked(error)) {
          isAside = true
          if (accountId !== undefined) stuck.add(accountId)
          if (performance.now() - sinceMs > lockWaitMs) throw locked(error)
          await pause(lockPauseMs)
          continue
        }
        // A lost connection rolled all of it back, unless the commit had been sent.
        const isUndone = isCut(error) && !isWorked && health.healthy && races === 0
        if ((isRaced(error) || isUndone) && ++races < maxTries) {
          await pause(Math.random() * 20 * 2 ** races)
          continue
        }
        if (isDatabaseTrouble(error)) failed(error)
        throw error
      }
    }
  }
}

const locked = (cause: unknown): Error =>
  new StoreBusy('what the transaction needs is locked by another one', { cause })
