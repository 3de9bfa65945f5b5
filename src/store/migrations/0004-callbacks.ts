// Migration 4: external ids of tasks, and callbacks about their ends.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE tasks ADD COLUMN external_id {text};
CREATE UNIQUE INDEX tasks_by_external ON tasks (account_id, external_id)
  WHERE external_id IS NOT NULL;

CREATE INDEX tasks_by_time ON tasks (created_at_ms, id);

CREATE TABLE callbacks (
  id {text} NOT NULL PRIMARY KEY,
  task_id {text} NOT NULL UNIQUE,
  account_id {text} NOT NULL,
  url {text} NOT NULL,
  state {text} NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
  attempts {int} NOT NULL,
  next_at_ms {int} NOT NULL,
  lease_owner {text},
  lease_until_ms {int} NOT NULL,
  created_at_ms {int} NOT NULL,
  ended_at_ms {int}
){strict};
CREATE INDEX callbacks_due ON callbacks (next_at_ms) WHERE state = 'waiting';

CREATE TABLE callback_attempts (
  callback_id {text} NOT NULL,
  number {int} NOT NULL,
  at_ms {int} NOT NULL,
  took_ms {int} NOT NULL,
  status {int},
  error {text},
  PRIMARY KEY (callback_id, number)
){byKey};
`

export const callbackTables: Migration = { version: 4, up: (dialect) => spell(dialect, tables) }
