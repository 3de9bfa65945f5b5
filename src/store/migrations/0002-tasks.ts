// Migration 2: tasks, and the responses of creates that may be repeated.

import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE tasks (
  id {text} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  token_id {text} NOT NULL,
  request_id {text} NOT NULL,
  interface {text} NOT NULL,
  model {text} NOT NULL,
  protocol {text} NOT NULL,
  channel_id {text} NOT NULL,
  channel {text} NOT NULL,
  upstream_id {text},
  state {text} NOT NULL,
  progress {int} NOT NULL,
  hold_nanos {int} NOT NULL,
  charge_nanos {int} NOT NULL,
  price_id {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  updated_at_ms {int} NOT NULL,
  started_at_ms {int},
  finished_at_ms {int},
  next_check_at_ms {int} NOT NULL,
  checks {int} NOT NULL,
  lease_owner {text},
  lease_until_ms {int} NOT NULL,
  fence {int} NOT NULL,
  hidden {int} NOT NULL CHECK (hidden IN (0, 1)),
  body {text} NOT NULL
){strict};
CREATE INDEX tasks_by_account ON tasks (account_id, created_at_ms, id);
CREATE UNIQUE INDEX tasks_by_upstream ON tasks (channel_id, upstream_id)
  WHERE upstream_id IS NOT NULL;
CREATE INDEX tasks_due ON tasks (next_check_at_ms)
  WHERE state IN ('accepted', 'unknown', 'queued', 'running');
`

export const taskTables: Migration = { version: 2, up: (dialect) => spell(dialect, tables) }
