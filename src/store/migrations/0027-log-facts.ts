// Migration 27: what the log says of channels and tokens beside its traffic sums: attempts that failed at
// each channel by the hour, and when each token was last used.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE failed_attempts (
  hour_ms {int} NOT NULL,
  channel {text} NOT NULL,
  failed {int} NOT NULL,
  PRIMARY KEY (hour_ms, channel)
){byKey};

CREATE TABLE token_uses (
  token_id {text} NOT NULL PRIMARY KEY,
  last_ms {int} NOT NULL
){byKey};
`

export const logFacts: Migration = { version: 27, up: (dialect) => spell(dialect, tables) }
