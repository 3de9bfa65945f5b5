// Migration 13: how often the callback secret of an account was rotated, and when last. The secrets
// themselves are derived from the master key and are in no table.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE callback_secrets (
  account_id {text} NOT NULL PRIMARY KEY,
  generation {int} NOT NULL,
  rotated_at_ms {int} NOT NULL
){strict};
`

export const callbackSecrets: Migration = { version: 13, up: (dialect) => spell(dialect, tables) }
