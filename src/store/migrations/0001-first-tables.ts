// Migration 1: accounts, ledger, tokens, catalog, request log. Never edited once released.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE accounts (
  id {text} NOT NULL PRIMARY KEY,
  name {text} NOT NULL UNIQUE,
  balance_nanos {int} NOT NULL,
  held_nanos {int} NOT NULL,
  source {text} NOT NULL,
  created_at_ms {int} NOT NULL
){strict};

CREATE TABLE entries (
  id {auto},
  at_ms {int} NOT NULL,
  account_id {text} NOT NULL,
  kind {text} NOT NULL,
  amount_nanos {int} NOT NULL,
  ref {text} NOT NULL,
  model {text},
  unit {text},
  quantity {real},
  price_id {text},
  estimated {int} NOT NULL CHECK (estimated IN (0, 1)),
  note {text},
  UNIQUE (ref, kind),
  CHECK (
    (kind IN ('credit', 'adjust') AND amount_nanos <> 0)
    OR (kind IN ('hold', 'charge') AND amount_nanos <= 0)
    OR (kind = 'release' AND amount_nanos >= 0)
  )
){strict};
CREATE INDEX entries_by_account ON entries (account_id, id);

CREATE TABLE tokens (
  id {text} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  name {text} NOT NULL,
  hash {text} NOT NULL,
  prefix {text} NOT NULL,
  models {text} NOT NULL,
  limits {text} NOT NULL,
  allowed_ips {text} NOT NULL,
  expires_at_ms {int},
  disabled {int} NOT NULL CHECK (disabled IN (0, 1)),
  source {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  revoked_at_ms {int}
){strict};
CREATE UNIQUE INDEX tokens_by_name ON tokens (account_id, name) WHERE revoked_at_ms IS NULL;
CREATE UNIQUE INDEX tokens_by_hash ON tokens (hash) WHERE revoked_at_ms IS NULL;

CREATE TABLE channels (
  id {text} NOT NULL PRIMARY KEY,
  name {text} NOT NULL UNIQUE,
  body {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  updated_at_ms {int} NOT NULL
){strict};

CREATE TABLE channel_keys (
  id {text} NOT NULL PRIMARY KEY,
  channel_id {text} NOT NULL,
  position {int} NOT NULL,
  ciphertext {text} NOT NULL,
  UNIQUE (channel_id, position)
){strict};

CREATE TABLE models (
  name {text} NOT NULL PRIMARY KEY,
  body {text} NOT NULL,
  updated_at_ms {int} NOT NULL
){strict};

CREATE TABLE prices (
  id {text} NOT NULL PRIMARY KEY,
  model {text} NOT NULL,
  body {text} NOT NULL,
  source {text} NOT NULL,
  effective_from_ms {int} NOT NULL,
  created_at_ms {int} NOT NULL
){strict};
CREATE INDEX prices_by_model ON prices (model, effective_from_ms);

CREATE TABLE requests (
  seq {auto},
  request_id {text} NOT NULL UNIQUE,
  at_ms {int} NOT NULL,
  account_id {text} NOT NULL,
  token_id {text} NOT NULL,
  interface {text} NOT NULL,
  model {text} NOT NULL,
  channel {text},
  upstream_request_id {text},
  status {int} NOT NULL,
  error_code {text},
  charge_nanos {int} NOT NULL,
  price_id {text},
  input_tokens {int},
  output_tokens {int},
  cache_read_tokens {int},
  cache_write_tokens {int},
  first_byte_ms {int},
  total_ms {int} NOT NULL,
  detail {text} NOT NULL
){strict};
CREATE INDEX requests_by_account ON requests (account_id, seq);

CREATE TABLE upstream_ids (
  segment {int} NOT NULL,
  upstream_request_id {text} NOT NULL,
  seq {int} NOT NULL,
  PRIMARY KEY (segment, upstream_request_id, seq)
){byKey};

CREATE TABLE audit_log (
  id {auto},
  at_ms {int} NOT NULL,
  actor {text} NOT NULL,
  action {text} NOT NULL,
  subject {text} NOT NULL,
  "before" {text},
  "after" {text}
){strict};
`

const appendOnly = {
  sqlite: [
    `CREATE TRIGGER entries_keep BEFORE UPDATE ON entries
     BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END`,
    `CREATE TRIGGER entries_stay BEFORE DELETE ON entries
     BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END`,
  ],
  postgres: [
    `CREATE FUNCTION entries_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'entries are append-only'; END $$`,
    `CREATE TRIGGER entries_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
     FOR EACH STATEMENT EXECUTE FUNCTION entries_refuse_change()`,
  ],
} as const

export const firstTables: Migration = {
  version: 1,
  up: (dialect) => [...spell(dialect, tables), ...appendOnly[dialect]],
}
