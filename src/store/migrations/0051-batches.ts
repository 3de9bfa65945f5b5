// Migration 51: files of accounts, and batches of calls over them. A line of a running batch has a row from its
// outcome on, until the outcomes are in the batch's files.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE account_files (
  id {text} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  filename {text} NOT NULL,
  purpose {text} NOT NULL,
  bytes {int} NOT NULL,
  state {text} NOT NULL CHECK (state IN ('pending', 'kept', 'gone')),
  place {text} NOT NULL,
  stored_bytes {int} NOT NULL,
  created_at_ms {int} NOT NULL,
  expires_at_ms {int} NOT NULL
){strict};
CREATE INDEX account_files_by_account ON account_files (account_id, id);
CREATE INDEX account_files_by_expiry ON account_files (expires_at_ms);
CREATE TABLE file_parts (
  name {text} NOT NULL,
  number {int} NOT NULL,
  body {text} NOT NULL,
  PRIMARY KEY (name, number)
){byKey};
CREATE TABLE batches (
  id {text} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  token_id {text} NOT NULL,
  endpoint {text} NOT NULL,
  input_file_id {text} NOT NULL,
  state {text} NOT NULL,
  total {int} NOT NULL,
  completed {int} NOT NULL,
  failed {int} NOT NULL,
  charge_nanos {int} NOT NULL,
  output_file_id {text},
  error_file_id {text},
  created_at_ms {int} NOT NULL,
  expires_at_ms {int} NOT NULL,
  owner {text},
  fence {int} NOT NULL,
  tags {text},
  body {text} NOT NULL
){strict};
CREATE INDEX batches_by_account ON batches (account_id, id);
CREATE INDEX batches_live ON batches (id) WHERE state IN ('validating', 'in_progress', 'finalizing', 'cancelling');
CREATE TABLE batch_lines (
  batch_id {text} NOT NULL,
  line {int} NOT NULL,
  request_id {text},
  failed {int} NOT NULL,
  answer {text} NOT NULL,
  PRIMARY KEY (batch_id, line)
){byKey};
`

export const batchTables: Migration = { version: 51, up: (dialect) => spell(dialect, tables) }
