// Migration 20: tags and end users of calls, tasks and ledger entries; the names of tags that an
// account declares; hourly totals by tag.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE accounts ADD COLUMN tag_names {text};
ALTER TABLE accounts ADD COLUMN end_users {text};
ALTER TABLE tokens ADD COLUMN tags {text};
ALTER TABLE requests ADD COLUMN tags {text};
ALTER TABLE entries ADD COLUMN tags {text};
ALTER TABLE tasks ADD COLUMN tags {text};

CREATE INDEX tasks_tagged ON tasks
  (created_at_ms, id, account_id, model, state, channel, interface, tags)
  WHERE tags IS NOT NULL;

CREATE TABLE tag_totals (
  account_id {text} NOT NULL,
  hour_ms {int} NOT NULL,
  name {text} NOT NULL,
  value {text} NOT NULL,
  token_id {text} NOT NULL,
  model {text} NOT NULL,
  unit {text} NOT NULL,
  entries {int} NOT NULL,
  estimated {int} NOT NULL,
  quantity {real} NOT NULL,
  amount_nanos {int} NOT NULL,
  input_tokens {int} NOT NULL,
  output_tokens {int} NOT NULL,
  cache_read_tokens {int} NOT NULL,
  cache_write_tokens {int} NOT NULL,
  PRIMARY KEY (account_id, hour_ms, name, value, token_id, model, unit)
){byKey};
`

export const tagTables: Migration = { version: 20, up: (dialect) => spell(dialect, tables) }
