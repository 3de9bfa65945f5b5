// Creates the first account and token, so that the first call works without any set-up. Only for an
// empty database with the sandbox: on a real upstream this would give credit away.

import { newSecret, newShortId } from '../../lib/crypto/ids.ts'
import { listAccounts } from '../../store/catalog/accounts.ts'
import { insertToken } from '../../store/catalog/tokens.ts'
import type { DeclarationDeps, MadeToken } from './apply-declarations.ts'
import { openAccount } from './open-account.ts'

const openingNanos = 100_000_000_000n

export async function firstToken(deps: DeclarationDeps): Promise<MadeToken[]> {
  const { items } = await listAccounts(deps.store.read, { limit: 1 })
  if (items.length > 0) return []
  const secret = newSecret('sk-')
  const nowMs = deps.clock.nowMs()
  const account = { name: 'default', source: 'api' as const, balanceNanos: openingNanos }
  await openAccount(deps, account, (tx, accountId) =>
    insertToken(tx, {
      id: newShortId('tok', nowMs),
      accountId,
      name: 'first',
      hash: deps.seal.hash(secret),
      prefix: secret.slice(0, 8),
      models: ['*'],
      limits: {},
      allowedIps: [],
      disabled: false,
      source: 'api',
      createdAtMs: nowMs,
    }),
  )
  return [{ account: account.name, name: 'first', secret }]
}
