// Migration 3: gateways that share a database and their credit leases, idempotency keys of creates,
// and the stored files of finished tasks.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE accounts ADD COLUMN drawn_nanos {int} NOT NULL DEFAULT 0;

CREATE TABLE gateways (
  id {text} NOT NULL PRIMARY KEY,
  lock_key {int} NOT NULL UNIQUE,
  started_at_ms {int} NOT NULL
){strict};

CREATE TABLE purses (
  account_id {text} NOT NULL,
  gateway_id {text} NOT NULL,
  amount_nanos {int} NOT NULL CHECK (amount_nanos >= 0),
  PRIMARY KEY (account_id, gateway_id)
){byKey};

CREATE TABLE creates (
  account_id {text} NOT NULL,
  path {text} NOT NULL,
  key {text} NOT NULL,
  fingerprint {text} NOT NULL,
  task_id {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  PRIMARY KEY (account_id, path, key)
){byKey};
CREATE INDEX creates_by_time ON creates (created_at_ms);

CREATE TABLE files (
  task_id {text} NOT NULL,
  part {int} NOT NULL,
  state {text} NOT NULL CHECK (state IN ('claimed', 'kept', 'gone')),
  place {text} NOT NULL,
  name {text} NOT NULL,
  attempts {int} NOT NULL,
  claimed_until_ms {int} NOT NULL,
  since_ms {int} NOT NULL,
  bytes {int} NOT NULL,
  type {text} NOT NULL,
  etag {text} NOT NULL,
  PRIMARY KEY (task_id, part)
){byKey};
CREATE INDEX files_claimed ON files (claimed_until_ms) WHERE state = 'claimed';
CREATE INDEX files_since ON files (place, state, since_ms) WHERE state <> 'claimed';

CREATE INDEX tasks_due_by_place ON tasks (channel_id, account_id, next_check_at_ms)
  WHERE state IN ('accepted', 'unknown', 'queued', 'running');
`

export const manyGateways: Migration = { version: 3, up: (dialect) => spell(dialect, tables) }
