// Migration 28: links to bills, so that they can be listed and revoked. A link is signed: its row alone does
// not make one.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE bill_links (
  id {text} NOT NULL PRIMARY KEY,
  account_id {text} NOT NULL,
  month {text} NOT NULL,
  language {text} NOT NULL,
  email {text},
  created_by {text} NOT NULL,
  by_member {int} NOT NULL,
  created_at_ms {int} NOT NULL,
  expires_at_ms {int} NOT NULL
){strict};
CREATE INDEX bill_links_by_account ON bill_links (account_id, month);
CREATE INDEX bill_links_by_expiry ON bill_links (expires_at_ms);
`

export const billLinks: Migration = { version: 28, up: (dialect) => spell(dialect, tables) }
