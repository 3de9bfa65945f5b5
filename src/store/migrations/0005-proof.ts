// Migration 5: spending by token and tier, receipts that prove the ledger and their hourly totals,
// closed months, account-specific prices, losses, upstream statements, and alerts.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE entries ADD COLUMN token_id {text};
ALTER TABLE entries ADD COLUMN tier {text};
CREATE INDEX entries_by_hand ON entries (account_id, at_ms) WHERE kind IN ('credit', 'adjust');

ALTER TABLE accounts ADD COLUMN stopped_since_ms {int};

ALTER TABLE prices ADD COLUMN account_id {text};

CREATE TABLE receipts (
  entry_id {int} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  number {int} NOT NULL,
  balance_nanos {int} NOT NULL,
  hash {text} NOT NULL,
  UNIQUE (account_id, number)
){strict};

CREATE TABLE seals (
  account_id {text} NOT NULL,
  number {int} NOT NULL,
  hash {text} NOT NULL,
  key {text} NOT NULL,
  signature {text} NOT NULL,
  at_ms {int} NOT NULL,
  PRIMARY KEY (account_id, number)
){byKey};

CREATE TABLE money_hours (
  account_id {text} NOT NULL,
  hour_ms {int} NOT NULL,
  kind {text} NOT NULL,
  token_id {text} NOT NULL,
  model {text} NOT NULL,
  unit {text} NOT NULL,
  tier {text} NOT NULL,
  price_id {text} NOT NULL,
  input_bucket {int} NOT NULL,
  entries {int} NOT NULL,
  estimated {int} NOT NULL,
  quantity {real} NOT NULL,
  amount_nanos {int} NOT NULL,
  input_tokens {int} NOT NULL,
  output_tokens {int} NOT NULL,
  cache_read_tokens {int} NOT NULL,
  cache_write_tokens {int} NOT NULL,
  PRIMARY KEY (
    account_id, hour_ms, kind, token_id, model, unit, tier, price_id, input_bucket
  )
){byKey};

CREATE TABLE closed_months (
  account_id {text} NOT NULL,
  month {text} NOT NULL,
  closed_at_ms {int} NOT NULL,
  note {text},
  last_number {int} NOT NULL,
  body {text} NOT NULL,
  key {text} NOT NULL,
  signature {text} NOT NULL,
  PRIMARY KEY (account_id, month)
){byKey};

CREATE TABLE losses (
  id {text} NOT NULL PRIMARY KEY,
  at_ms {int} NOT NULL,
  account_id {text} NOT NULL,
  ref {text} NOT NULL,
  reason {text} NOT NULL,
  channel {text} NOT NULL,
  model {text} NOT NULL,
  upstream_id {text} NOT NULL,
  unit {text},
  quantity {real},
  amount_nanos {int} NOT NULL CHECK (amount_nanos >= 0),
  is_estimate {int} NOT NULL CHECK (is_estimate IN (0, 1)),
  UNIQUE (ref, reason, channel, upstream_id)
){strict};
CREATE INDEX losses_by_time ON losses (at_ms, id);

CREATE TABLE late_looks (
  task_id {text} NOT NULL PRIMARY KEY,
  next_at_ms {int} NOT NULL,
  looks {int} NOT NULL
){strict};
CREATE INDEX late_looks_due ON late_looks (next_at_ms);

CREATE TABLE statements (
  id {text} NOT NULL PRIMARY KEY,
  at_ms {int} NOT NULL,
  channel {text} NOT NULL,
  name {text} NOT NULL,
  from_ms {int} NOT NULL,
  until_ms {int} NOT NULL,
  body {text} NOT NULL
){strict};

CREATE TABLE statement_lines (
  statement_id {text} NOT NULL,
  number {int} NOT NULL,
  outcome {text} NOT NULL,
  at_ms {int},
  model {text},
  upstream_id {text},
  quantity {real},
  amount_nanos {int},
  ref {text},
  our_quantity {real},
  our_amount_nanos {int},
  PRIMARY KEY (statement_id, number)
){byKey};
CREATE INDEX statement_lines_by_outcome ON statement_lines (statement_id, outcome, number);
CREATE INDEX statement_lines_by_upstream ON statement_lines (upstream_id)
  WHERE upstream_id IS NOT NULL;

CREATE TABLE alerts (
  id {text} NOT NULL PRIMARY KEY,
  kind {text} NOT NULL,
  subject {text} NOT NULL,
  message {text} NOT NULL,
  since_ms {int} NOT NULL,
  last_ms {int} NOT NULL,
  times {int} NOT NULL,
  resolved_at_ms {int}
){strict};
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE resolved_at_ms IS NULL;
CREATE INDEX alerts_by_time ON alerts (since_ms, id);
`

export const proofTables: Migration = { version: 5, up: (dialect) => spell(dialect, tables) }
