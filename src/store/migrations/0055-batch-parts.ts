// Migration 55: parts of batches that were given to the batch API of an upstream, each with the hold for its lines.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE batch_parts (
  id {text} NOT NULL PRIMARY KEY,
  batch_id {text} NOT NULL,
  account_id {text} NOT NULL,
  state {text} NOT NULL CHECK (state IN ('held', 'uploaded', 'created', 'adopting', 'ended', 'refused')),
  channel_id {text} NOT NULL,
  protocol {text} NOT NULL,
  upstream_model {text} NOT NULL,
  key_fingerprint {text} NOT NULL,
  hold_nanos {int} NOT NULL,
  file_id {text},
  upstream_id {text},
  lines {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  released_at_ms {int}
){strict};
CREATE INDEX batch_parts_by_batch ON batch_parts (batch_id);
`

export const batchParts: Migration = { version: 55, up: (dialect) => spell(dialect, tables) }
