// Creates an account and its opening credit in one transaction, so that neither exists alone.

import type { Ledger } from '../../billing/ledger.ts'
import type { Source } from '../../contract/catalog.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { type AccountChange, insertAccount } from '../../store/catalog/accounts.ts'
import { putLowState } from '../../store/deliveries/low-balances.ts'
import type { Tx } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import type { BaseDeps } from '../base-deps.ts'

export interface AccountDeps extends BaseDeps {
  readonly ledger: Ledger
}

export async function openAccount(
  { store, clock, ledger }: AccountDeps,
  account: { name: string; source: Source; balanceNanos: bigint } & AccountChange,
  alongside: (tx: Tx, id: string) => Promise<void> = async () => {},
): Promise<string> {
  const { balanceNanos, ...settings } = account
  const atMs = clock.nowMs()
  const id = newShortId('acc', atMs)
  await store.tx(async (tx) => {
    await insertAccount(tx, { ...settings, id, createdAtMs: atMs })
    if (balanceNanos !== 0n) {
      await appendEntry(tx, {
        atMs,
        accountId: id,
        kind: 'credit',
        amountNanos: balanceNanos,
        ref: `opening:${id}`,
        note: 'opening balance',
      })
    }
    // An account that begins below its threshold has not fallen below it.
    const { balanceLowNanos: thresholdNanos } = settings
    if (thresholdNanos != null) {
      await putLowState(tx, id, { thresholdNanos, isLow: balanceNanos < thresholdNanos }, atMs)
    }
    await alongside(tx, id)
  })
  ledger.add({ id, balanceNanos, heldNanos: 0n })
  return id
}
