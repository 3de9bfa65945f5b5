// Migration 7: people who sign in to the console, their sessions, and sign-ins that failed.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE people (
  id {text} NOT NULL PRIMARY KEY,
  name {text} NOT NULL UNIQUE,
  role {text} NOT NULL,
  account_id {text},
  password {text} NOT NULL,
  disabled {int} NOT NULL CHECK (disabled IN (0, 1)),
  created_at_ms {int} NOT NULL
){strict};

CREATE TABLE sessions (
  hash {text} NOT NULL PRIMARY KEY,
  person_id {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  seen_at_ms {int} NOT NULL,
  address {text} NOT NULL,
  agent {text} NOT NULL
){byKey};
CREATE INDEX sessions_by_person ON sessions (person_id);
CREATE INDEX sessions_by_time ON sessions (seen_at_ms);

CREATE TABLE failed_sign_ins (
  subject {text} NOT NULL PRIMARY KEY,
  failures {int} NOT NULL,
  last_at_ms {int} NOT NULL
){byKey};
CREATE INDEX failed_sign_ins_by_time ON failed_sign_ins (last_at_ms);
`

export const peopleTables: Migration = { version: 7, up: (dialect) => spell(dialect, tables) }
