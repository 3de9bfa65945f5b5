// Migration 87: figures of the request log as columns of its segments, and indexes of tasks, so that both are sorted over
// all rows. Segments from before get theirs in the background; until then their rows are read.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE log_figures (
  segment {int} NOT NULL,
  field {text} NOT NULL,
  lowest {int} NOT NULL,
  highest {int} NOT NULL,
  figures {text} NOT NULL,
  PRIMARY KEY (segment, field)
){strict};

CREATE INDEX tasks_by_charge ON tasks (charge_nanos, id);
CREATE INDEX tasks_by_duration ON tasks
  ((CASE WHEN finished_at_ms IS NULL THEN -1 ELSE finished_at_ms - created_at_ms END), id);
`

export const sortedLists: Migration = { version: 87, up: (dialect) => spell(dialect, tables) }
