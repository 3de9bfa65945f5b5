// Migration 24: subscriptions to notices, the notices with their deliveries, what has been told until
// it is armed anew, and the threshold of each account. Losses get numbers in the order in which they
// were written, so that a reader can go on where it was.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const lossColumns =
  'id, at_ms, account_id, ref, reason, channel, model, upstream_id, unit, quantity, amount_nanos, is_estimate'

const tables = `
CREATE TABLE webhooks (
  id {text} NOT NULL PRIMARY KEY,
  address {text} NOT NULL,
  body {text} NOT NULL,
  secret {text},
  disabled {int} NOT NULL CHECK (disabled IN (0, 1)),
  source {text} NOT NULL,
  created_at_ms {int} NOT NULL
){strict};

CREATE TABLE notices (
  id {text} NOT NULL PRIMARY KEY,
  type {text} NOT NULL,
  at_ms {int} NOT NULL,
  data {text} NOT NULL,
  once {text} UNIQUE
){strict};
CREATE INDEX notices_by_time ON notices (at_ms);

CREATE TABLE notice_deliveries (
  id {text} NOT NULL PRIMARY KEY,
  notice_id {text} NOT NULL,
  webhook_id {text} NOT NULL,
  url {text} NOT NULL,
  state {text} NOT NULL CHECK (state IN ('waiting', 'delivered', 'exhausted')),
  attempts {int} NOT NULL,
  next_at_ms {int} NOT NULL,
  lease_owner {text},
  lease_until_ms {int} NOT NULL,
  created_at_ms {int} NOT NULL,
  ended_at_ms {int}
){strict};
CREATE INDEX notice_deliveries_due ON notice_deliveries (next_at_ms) WHERE state = 'waiting';
CREATE INDEX notice_deliveries_of ON notice_deliveries (webhook_id, created_at_ms, id);
CREATE INDEX notice_deliveries_to ON notice_deliveries (notice_id);

CREATE TABLE notice_attempts (
  delivery_id {text} NOT NULL,
  number {int} NOT NULL,
  at_ms {int} NOT NULL,
  took_ms {int} NOT NULL,
  status {int},
  error {text},
  PRIMARY KEY (delivery_id, number)
){byKey};

CREATE TABLE notice_states (
  type {text} NOT NULL,
  subject {text} NOT NULL,
  reporter {text} NOT NULL,
  body {text} NOT NULL,
  at_ms {int} NOT NULL,
  PRIMARY KEY (type, subject, reporter)
){byKey};

ALTER TABLE accounts ADD COLUMN balance_low_nanos {int};
CREATE INDEX accounts_with_threshold ON accounts (id) WHERE balance_low_nanos IS NOT NULL;

CREATE TABLE numbered_losses (
  seq {auto},
  id {text} NOT NULL UNIQUE,
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
INSERT INTO numbered_losses (${lossColumns})
  SELECT ${lossColumns} FROM losses ORDER BY at_ms, id;
DROP TABLE losses;
ALTER TABLE numbered_losses RENAME TO losses;
CREATE INDEX losses_by_time ON losses (at_ms, id);
`

export const noticeTables: Migration = { version: 24, up: (dialect) => spell(dialect, tables) }
