// Migration 57: retries of clients in the sums of traffic. Spans that were summed before have none.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = ['traffic', 'account_traffic']
  .map((table) => `ALTER TABLE ${table} ADD COLUMN retries {int} NOT NULL DEFAULT 0;`)
  .join('\n')

export const clientRetries: Migration = { version: 57, up: (dialect) => spell(dialect, columns) }
