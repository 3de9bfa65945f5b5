// Migration 21: people who sign in through an identity provider, by issuer and subject, and the sign-ins
// that have been used.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const changes = `
ALTER TABLE people ADD COLUMN subject {text};
CREATE UNIQUE INDEX people_by_subject ON people (subject);

CREATE TABLE used_sign_ins (
  hash {text} NOT NULL PRIMARY KEY,
  at_ms {int} NOT NULL
){byKey};
CREATE INDEX used_sign_ins_by_time ON used_sign_ins (at_ms);
`

export const oidcSignIns: Migration = { version: 21, up: (dialect) => spell(dialect, changes) }
