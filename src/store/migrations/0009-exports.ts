// Migration 9: exports and the chunks of their files.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE exports (
  id {text} NOT NULL PRIMARY KEY,
  created_at_ms {int} NOT NULL,
  actor {text} NOT NULL,
  person_id {text},
  account_id {text},
  kind {text} NOT NULL,
  format {text} NOT NULL,
  filters {text} NOT NULL,
  state {text} NOT NULL,
  place {text},
  row_count {int} NOT NULL,
  total_rows {int},
  bytes {int} NOT NULL,
  stored_bytes {int} NOT NULL,
  pieces {int} NOT NULL,
  is_cut {int} NOT NULL CHECK (is_cut IN (0, 1)),
  error {text},
  attempts {int} NOT NULL,
  lease_owner {text},
  lease_until_ms {int} NOT NULL,
  finished_at_ms {int},
  expires_at_ms {int} NOT NULL
){strict};

CREATE TABLE export_pieces (
  export_id {text} NOT NULL,
  number {int} NOT NULL,
  body {bytes} NOT NULL,
  PRIMARY KEY (export_id, number)
){strict};
`

export const exportTables: Migration = { version: 9, up: (dialect) => spell(dialect, tables) }
