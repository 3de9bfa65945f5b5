// Migration 19: links that create a person or set a new password, stored as hashes.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE invitations (
  id {text} NOT NULL PRIMARY KEY,
  hash {text} NOT NULL UNIQUE,
  role {text} NOT NULL,
  account_id {text},
  email {text},
  person_id {text},
  created_by {text} NOT NULL,
  created_by_id {text},
  created_at_ms {int} NOT NULL,
  expires_at_ms {int} NOT NULL,
  accepted_at_ms {int},
  accepted_by_id {text}
){strict};
`

export const invitationTable: Migration = { version: 19, up: (dialect) => spell(dialect, tables) }
