// Migration 31: the audit log tells a person from the admin token and from the gateway itself. Of older rows
// the kind is known unless a person had the name `admin` or `gateway` at that time. An account says how
// many tokens its members may have.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

/** No person had this name when the row was written: none has it, or was created under it before. */
const byNobody = (name: string): string => `
  NOT EXISTS (SELECT 1 FROM people WHERE name = '${name}' AND created_at_ms <= audit_log.at_ms)
  AND NOT EXISTS (
    SELECT 1 FROM audit_log made WHERE made.action = 'person.create'
      AND made.after LIKE '%"name":"${name}"%' AND made.id < audit_log.id)`

const columns = `
ALTER TABLE audit_log ADD COLUMN actor_kind {text};
ALTER TABLE audit_log ADD COLUMN actor_id {text};
ALTER TABLE accounts ADD COLUMN token_limit {int};
UPDATE audit_log SET actor_kind = 'person' WHERE actor NOT IN ('admin', 'gateway');
UPDATE audit_log SET actor_kind = 'admin_token' WHERE actor = 'admin' AND ${byNobody('admin')};
UPDATE audit_log SET actor_kind = 'gateway' WHERE actor = 'gateway' AND ${byNobody('gateway')};
`

export const actorKindsOfLog: Migration = { version: 31, up: (dialect) => spell(dialect, columns) }
