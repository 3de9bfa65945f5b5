// Migration 16: stored states and actions get the words of the admin API, and exports are no longer stored.
// SQLite cannot change a CHECK, so the table of callbacks is made anew there.
import type { Dialect } from '../schema.ts'
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const check = `CHECK (state IN ('waiting', 'delivered', 'exhausted'))`

const columns = 'attempts, next_at_ms, lease_owner, lease_until_ms, created_at_ms, ended_at_ms'

const callbacks: Record<Dialect, string> = {
  sqlite: `
CREATE TABLE new_callbacks (
  id {text} NOT NULL PRIMARY KEY,
  task_id {text} NOT NULL UNIQUE,
  account_id {text} NOT NULL,
  url {text} NOT NULL,
  state {text} NOT NULL ${check},
  attempts {int} NOT NULL,
  next_at_ms {int} NOT NULL,
  lease_owner {text},
  lease_until_ms {int} NOT NULL,
  created_at_ms {int} NOT NULL,
  ended_at_ms {int}
){strict};
INSERT INTO new_callbacks (id, task_id, account_id, url, state, ${columns})
  SELECT id, task_id, account_id, url,
    CASE state WHEN 'given_up' THEN 'exhausted' ELSE state END, ${columns} FROM callbacks;
DROP TABLE callbacks;
ALTER TABLE new_callbacks RENAME TO callbacks;
CREATE INDEX callbacks_due ON callbacks (next_at_ms) WHERE state = 'waiting';
`,
  postgres: `
ALTER TABLE callbacks DROP CONSTRAINT callbacks_state_check;
UPDATE callbacks SET state = 'exhausted' WHERE state = 'given_up';
ALTER TABLE callbacks ADD CONSTRAINT callbacks_state_check ${check};
`,
}

const others = `
DROP TABLE export_pieces;
DROP TABLE exports;
UPDATE audit_log SET action = 'task.rerun' WHERE action = 'task.again';
`

export const plainStates: Migration = {
  version: 16,
  up: (dialect) => spell(dialect, callbacks[dialect] + others),
}
