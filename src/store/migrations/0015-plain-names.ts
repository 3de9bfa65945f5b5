// Tables, columns and stored words get the names that the code and the admin API use.
import type { Migration } from './migration.ts'

/** Outcomes of statement lines: on each line, and as keys of the statement's sums. */
const wordsOf = (old: string, word: string): string[] => [
  `UPDATE statement_lines SET outcome = '${word}' WHERE outcome = '${old}'`,
  `UPDATE statements SET body = replace(body, '"${old}"', '"${word}"')`,
]

const renames = [
  'ALTER TABLE purses RENAME TO credit_leases',
  'ALTER TABLE accounts RENAME COLUMN drawn_nanos TO leased_nanos',
  'ALTER TABLE accounts RENAME COLUMN stopped_since_ms TO suspended_since_ms',
  'ALTER TABLE creates RENAME TO idempotency_keys',
  'ALTER TABLE money_hours RENAME TO hourly_totals',
  'ALTER TABLE late_looks RENAME TO abandoned_checks',
  'ALTER TABLE abandoned_checks RENAME COLUMN looks TO polls',
  'ALTER TABLE tasks RENAME COLUMN trail TO timeline',
  ...wordsOf('absorbed', 'loss'),
  ...wordsOf('only_there', 'upstream_only'),
  ...wordsOf('only_here', 'gateway_only'),
]

export const plainNames: Migration = { version: 15, up: () => renames }
