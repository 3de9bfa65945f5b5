// Migration 10: client address and request id of a change, and indexes for searching the audit log.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = `
ALTER TABLE audit_log ADD COLUMN address {text};
ALTER TABLE audit_log ADD COLUMN request_id {text};
CREATE INDEX audit_log_by_actor ON audit_log (actor, id);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE INDEX audit_log_by_subject ON audit_log (subject, id);
CREATE INDEX audit_log_by_time ON audit_log (at_ms, id);
`

export const auditPlaces: Migration = { version: 10, up: (dialect) => spell(dialect, columns) }
