// Migration 52: requests and answers of background responses, sealed. A row of a task is read by every list,
// so that they are not in it.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE task_texts (
  task_id {text} NOT NULL,
  part {text} NOT NULL CHECK (part IN ('request', 'answer')),
  sealed {text} NOT NULL,
  expires_at_ms {int} NOT NULL,
  PRIMARY KEY (task_id, part)
){byKey};
CREATE INDEX task_texts_by_expiry ON task_texts (expires_at_ms);
`

export const taskTexts: Migration = { version: 52, up: (dialect) => spell(dialect, tables) }
