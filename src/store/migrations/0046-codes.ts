// Migration 46: codes that members redeem for credit, once each. The code itself is not stored.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
CREATE TABLE codes (
  id {text} NOT NULL PRIMARY KEY,
  hash {text} NOT NULL UNIQUE,
  amount_nanos {int} NOT NULL CHECK (amount_nanos > 0),
  note {text},
  created_by {text} NOT NULL,
  created_at_ms {int} NOT NULL,
  expires_at_ms {int},
  account_id {text},
  redeemed_at_ms {int}
){strict};
`

export const codeTable: Migration = { version: 46, up: (dialect) => spell(dialect, tables) }
