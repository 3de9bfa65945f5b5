// Migration 89: totals of all accounts together by day, and months that also tell tokens, tiers and prices apart, so that
// usage of many accounts is read from few rows. Months from before have channels and no tokens: `meta` says
// after which month all have both.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const counts = [
  ...['entries', 'estimated', 'amount_nanos', 'input_tokens', 'output_tokens', 'cache_read_tokens'],
  ...['cache_write_tokens', 'cost_nanos', 'cost_unknown', 'refund_nanos'],
]

const tableOf = (name: string, keys: readonly string[]) => `
CREATE TABLE ${name} (
  ${keys.map((key) => `${key} ${/_ms$|^slot$/.test(key) ? '{int}' : '{text}'} NOT NULL,`).join('\n  ')}
  quantity {real} NOT NULL,
  ${counts.map((column) => `${column} {int} NOT NULL,`).join('\n  ')}
  PRIMARY KEY (${keys.join(', ')})
){byKey};
`

const monthKeys = ['month_ms', 'account_id', 'channel', 'model', 'unit']
const dayKeys = ['day_ms', 'channel', 'model', 'unit']

const text = `
${tableOf('overall_totals', [...dayKeys, 'slot'])}
INSERT INTO overall_totals (${dayKeys.join(', ')}, slot, quantity, ${counts.join(', ')})
SELECT ${dayKeys.join(', ')}, 0, sum(quantity),
  ${counts.map((column) => `CAST(sum(${column}) AS bigint)`).join(', ')}
FROM channel_totals GROUP BY ${dayKeys.join(', ')};

INSERT INTO meta (key, value)
SELECT 'months_without_tokens_until', CAST(max(month_ms) AS text) FROM monthly_totals HAVING count(*) > 0;

ALTER TABLE monthly_totals RENAME TO months_before;
${tableOf('monthly_totals', [...monthKeys, 'token_id', 'tier', 'price_id'])}
INSERT INTO monthly_totals (${monthKeys.join(', ')}, token_id, tier, price_id, quantity, ${counts.join(', ')})
SELECT ${monthKeys.join(', ')}, '', '', '', quantity, ${counts.join(', ')} FROM months_before;
DROP TABLE months_before;
`

export const overallTotals: Migration = {
  version: 89,
  // Gateways from before add to months without tokens.
  isAlone: true,
  up: (dialect) => spell(dialect, text),
}
