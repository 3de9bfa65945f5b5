// Migration 45: refunds, each with the request or task whose charge it gives back. The check of `entries`
// does not know them, and SQLite would have to write the whole table again to change it: a refund is an
// adjustment that names a charge.
import { addChargeText } from './0033-call-rows.ts'
import type { Migration } from './migration.ts'

const column = addChargeText(45, 'refund_of', ['service_tier'], {
  kind: `CASE WHEN e.refund_of IS NULL THEN e.kind ELSE 'refund' END AS kind`,
})

export const refunds: Migration = {
  ...column,
  up: (dialect) => [
    ...column.up(dialect),
    'CREATE INDEX entries_by_refund ON entries (refund_of) WHERE refund_of IS NOT NULL',
  ],
}
