// Migration 54: which bills were sent to their accounts by e-mail, so that each is sent once.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE bill_mails (
  account_id {text} NOT NULL,
  month {text} NOT NULL,
  state {text} NOT NULL,
  email {text} NOT NULL,
  problem {text},
  at_ms {int} NOT NULL,
  PRIMARY KEY (month, account_id)
){strict};
`

export const billMails: Migration = { version: 54, up: (dialect) => spell(dialect, tables) }
