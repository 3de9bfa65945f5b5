// Charges in the order of writing, and the credits that undo one.
import type { Kysely } from 'kysely'
import type { LedgerRow } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import type { FeedRange } from './low-balances.ts'

export interface SettledEntry extends LedgerRow {
  account: string
  /** The request that created the task. */
  task_request_id: string | null
}

/** Of the credit for a call that was charged but not answered: an operator's has another ref. */
const undone = 'req_%'

export async function settledIn(
  db: Kysely<Schema>,
  { afterId, untilId, limit }: FeedRange,
): Promise<SettledEntry[]> {
  return db
    .selectFrom('ledger as e')
    .innerJoin('accounts as a', 'a.id', 'e.account_id')
    .leftJoin('tasks as t', 't.id', 'e.ref')
    .selectAll('e')
    .select(['a.name as account', 't.request_id as task_request_id'])
    .where('e.id', '>', afterId)
    .where('e.id', '<=', untilId)
    .where((x) =>
      x.or([
        x('e.kind', '=', 'charge'),
        x.and([x('e.kind', '=', 'credit'), x('e.ref', 'like', undone)]),
      ]),
    )
    .orderBy('e.id')
    .limit(limit)
    .execute()
}
