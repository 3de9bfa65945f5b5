// Migration 56: why a line of a statement differs and what its work should cost, and months of channels that
// were closed against what the upstream billed.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE statement_lines ADD COLUMN reason {text};
ALTER TABLE statement_lines ADD COLUMN cost_nanos {int};
ALTER TABLE statement_lines ADD COLUMN part_of {int};
ALTER TABLE statement_lines ADD COLUMN their_quantity {real};
ALTER TABLE statement_lines ADD COLUMN their_nanos {int};
ALTER TABLE statement_lines ADD COLUMN currency {text};

CREATE TABLE channel_months (
  channel {text} NOT NULL,
  month {text} NOT NULL,
  closed_at_ms {int} NOT NULL,
  request_key {text},
  body {text} NOT NULL,
  key {text} NOT NULL,
  signature {text} NOT NULL,
  PRIMARY KEY (channel, month)
){strict};
`

export const channelMonths: Migration = { version: 56, up: (dialect) => spell(dialect, tables) }
