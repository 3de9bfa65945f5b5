// Migration 22: budgets of accounts, tokens and tags, how far their charges are counted, and what
// gateways have leased of them. Tokens that share a budget, because one took the place of the other.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE budgets (
  id {text} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  scope {text} NOT NULL CHECK (scope IN ('account', 'token', 'tag')),
  subject {text} NOT NULL,
  amount_nanos {int} NOT NULL CHECK (amount_nanos >= 0),
  per {text} NOT NULL,
  zone {text} NOT NULL,
  position {int} NOT NULL,
  source {text} NOT NULL,
  counted_from_ms {int},
  counted_id {int} NOT NULL DEFAULT 0,
  spent_nanos {int} NOT NULL DEFAULT 0
){strict};
CREATE INDEX budgets_by_account ON budgets (account_id);

CREATE TABLE budget_leases (
  budget_id {text} NOT NULL,
  gateway_id {text} NOT NULL,
  amount_nanos {int} NOT NULL CHECK (amount_nanos >= 0),
  PRIMARY KEY (budget_id, gateway_id)
){byKey};
CREATE INDEX budget_leases_by_gateway ON budget_leases (gateway_id);

CREATE INDEX tasks_held ON tasks (account_id, token_id)
  WHERE state IN ('accepted', 'unknown', 'queued', 'running');

ALTER TABLE tokens ADD COLUMN lineage {text};
CREATE INDEX tokens_by_lineage ON tokens (lineage) WHERE lineage IS NOT NULL;
`

export const budgetTables: Migration = { version: 22, up: (dialect) => spell(dialect, tables) }
