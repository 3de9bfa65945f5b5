// Migration 32: the names that have totals of their own in a month of an account. What older totals tell
// apart stays so; their names count, so that a month which has more than the maximum gets no others.
import type { Dialect } from '../schema.ts'
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const monthOf = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite'
    ? `strftime('%Y-%m', ${column} / 1000, 'unixepoch')`
    : `to_char(to_timestamp(${column} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM')`

const tables = (dialect: Dialect): string => `
CREATE TABLE total_names (
  account_id {text} NOT NULL,
  month {text} NOT NULL,
  name {text} NOT NULL,
  value {text} NOT NULL,
  PRIMARY KEY (account_id, month, name, value)
){byKey};
INSERT INTO total_names (account_id, month, name, value)
SELECT DISTINCT account_id, ${monthOf(dialect, 'day_ms')}, '', model
FROM daily_totals WHERE model <> '';
INSERT INTO total_names (account_id, month, name, value)
SELECT DISTINCT account_id, ${monthOf(dialect, 'hour_ms')}, name, value
FROM tag_totals WHERE value <> '*';
`

export const totalNames: Migration = {
  version: 32,
  up: (dialect) => spell(dialect, tables(dialect)),
}
