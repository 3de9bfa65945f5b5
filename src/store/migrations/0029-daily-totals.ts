// Migration 29: daily totals of entries, so that a month is read from a few rows for each day.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const keys = 'account_id, day_ms, kind, token_id, model, unit, tier, price_id'
const sums = [
  'entries',
  'estimated',
  'amount_nanos',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
]

const table = `
CREATE TABLE daily_totals (
  account_id {text} NOT NULL,
  day_ms {int} NOT NULL,
  kind {text} NOT NULL,
  token_id {text} NOT NULL,
  model {text} NOT NULL,
  unit {text} NOT NULL,
  tier {text} NOT NULL,
  price_id {text} NOT NULL,
  entries {int} NOT NULL,
  estimated {int} NOT NULL,
  quantity {real} NOT NULL,
  amount_nanos {int} NOT NULL,
  input_tokens {int} NOT NULL,
  output_tokens {int} NOT NULL,
  cache_read_tokens {int} NOT NULL,
  cache_write_tokens {int} NOT NULL,
  PRIMARY KEY (${keys})
){byKey};

INSERT INTO daily_totals (${keys}, quantity, ${sums.join(', ')})
SELECT account_id, hour_ms - hour_ms % 86400000, kind, token_id, model, unit, tier, price_id,
  sum(quantity), ${sums.map((name) => `CAST(sum(${name}) AS bigint)`).join(', ')}
FROM hourly_totals GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
`

export const dailyTotals: Migration = { version: 29, up: (dialect) => spell(dialect, table) }
