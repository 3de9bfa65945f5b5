// Migration 12: the end of an account's closed months. A writer of entries reads it from the row
// that the write locks anyway.
import type { Dialect } from '../schema.ts'
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE accounts ADD COLUMN closed_until_ms {int} NOT NULL DEFAULT 0;'

const endOfMonth: Readonly<Record<Dialect, string>> = {
  sqlite: `CAST(strftime('%s', max(month) || '-01', '+1 month') AS INTEGER) * 1000`,
  postgres: `CAST(extract(epoch FROM CAST(max(month) || '-01' AS timestamp) + interval '1 month')
    AS bigint) * 1000`,
}

const fromClosedMonths = (dialect: Dialect) => `
UPDATE accounts SET closed_until_ms = coalesce(
  (SELECT ${endOfMonth[dialect]} FROM closed_months WHERE account_id = accounts.id), 0
)`

export const closedUntil: Migration = {
  version: 12,
  up: (dialect) => [...spell(dialect, column), fromClosedMonths(dialect)],
}
