// Fills a database with tokens of the bench's account, by SQL inside the database. Only those that the
// callers use have the hash of a secret; they are spread evenly over the others.

import { sql } from 'kysely'
import { createSeal } from '../../src/lib/crypto/seal.ts'
import { listAccounts } from '../../src/store/catalog/accounts.ts'
import type { Store } from '../../src/store/index.ts'
import { account } from '../lib/gateway-config.ts'

export const masterKey = Buffer.alloc(32, 7)
/** Tokens that calls are made with, or as many as there are. */
export const usedTokens = 100
const rowsAtOnce = 100_000

export const secretOf = (i: number): string => `sk-bench-growth-${String(i).padStart(20, '0')}`

export async function fillTokens({ read, tx }: Store, count: number): Promise<void> {
  const { items } = await listAccounts(read, { limit: 10 })
  const owner = items.find(({ name }) => name === account)!
  for (let from = 0; from < count; from += rowsAtOnce) {
    const to = Math.min(count, from + rowsAtOnce)
    await tx((db) => sql.raw(tokensText(owner.id, from, to)).execute(db))
  }
  const seal = createSeal(masterKey)
  const step = Math.max(1, Math.floor(count / usedTokens))
  await tx(async (db) => {
    for (let i = 0; i < Math.min(count, usedTokens); i++) {
      const hash = seal.hash(secretOf(i))
      await db
        .updateTable('tokens')
        .set({ hash })
        .where('id', '=', idOf(i * step))
        .execute()
    }
  })
}

const idOf = (i: number): string => `tok_${i.toString(16).padStart(22, '0')}`

const tokensText = (accountId: string, from: number, to: number): string => `
  INSERT INTO tokens (id, account_id, name, hash, prefix, models, limits, allowed_ips, disabled,
    source, created_at_ms)
  WITH RECURSIVE n(i) AS (VALUES (${from}) UNION ALL SELECT i + 1 FROM n WHERE i < ${to - 1})
  SELECT 'tok_' || printf('%022x', i), '${accountId}', 'growth-' || i,
    'hash-of-another-token-of-the-bench-' || i, 'sk-bench', '["*"]', '{}', '[]', 0, 'api',
    ${Date.now()} FROM n`
