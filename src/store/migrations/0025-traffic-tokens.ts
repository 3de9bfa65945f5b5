// Migration 25: input tokens and those read from a cache in the sums of traffic. Spans that were summed
// before have none.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = ['traffic', 'account_traffic']
  .flatMap((table) =>
    ['input_tokens', 'cache_read_tokens'].map(
      (column) => `ALTER TABLE ${table} ADD COLUMN ${column} {int} NOT NULL DEFAULT 0;`,
    ),
  )
  .join('\n')

export const trafficTokens: Migration = { version: 25, up: (dialect) => spell(dialect, columns) }
