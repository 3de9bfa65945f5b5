// Migration 59: charges and refunds by the channel that served the work, by day and by month, so that margins are read
// from few rows. Which channel served earlier ones is not known here: they count under ''.
import type { Dialect } from '../schema.ts'
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const counts = [
  'entries',
  'estimated',
  'amount_nanos',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_nanos',
  'cost_unknown',
]

const ofCharges = (name: string) => `sum(CASE kind WHEN 'charge' THEN ${name} ELSE 0 END)`

const monthMs: Readonly<Record<Dialect, string>> = {
  sqlite: `1000 * unixepoch(day_ms / 1000, 'unixepoch', 'start of month')`,
  postgres: `CAST(1000 * extract(epoch FROM date_trunc('month',
    to_timestamp(day_ms / 1000) AT TIME ZONE 'UTC')) AS bigint)`,
}

/** `key`: its columns in order, each with what it is in daily totals. */
const tableOf = (name: string, key: readonly (readonly [column: string, from: string])[]) => `
CREATE TABLE ${name} (
  ${key.map(([column]) => `${column} ${column.endsWith('_ms') ? '{int}' : '{text}'} NOT NULL,`).join('\n  ')}
  quantity {real} NOT NULL,
  ${counts.map((column) => `${column} {int} NOT NULL,`).join('\n  ')}
  refund_nanos {int} NOT NULL,
  PRIMARY KEY (${key.map(([column]) => column).join(', ')})
){byKey};

INSERT INTO ${name} (${key.map(([column]) => column).join(', ')}, quantity, ${counts.join(', ')}, refund_nanos)
SELECT ${key.map(([, from]) => from).join(', ')}, ${ofCharges('quantity')},
  ${counts.map((column) => `CAST(${ofCharges(column)} AS bigint)`).join(', ')},
  CAST(sum(refund_nanos) AS bigint)
FROM daily_totals WHERE kind IN ('charge', 'refund') GROUP BY ${key.map((_, i) => i + 1).join(', ')};
`

const same = (column: string) => [column, column] as const
const unknown = ['channel', `CAST('' AS text)`] as const

export const channelTotals: Migration = {
  version: 59,
  up: (dialect) => [
    ...spell(
      dialect,
      tableOf('channel_totals', [
        same('day_ms'),
        unknown,
        ...['model', 'unit', 'account_id'].map(same),
      ]),
    ),
    ...spell(
      dialect,
      tableOf('monthly_totals', [
        ['month_ms', monthMs[dialect]],
        same('account_id'),
        unknown,
        ...['model', 'unit'].map(same),
      ]),
    ),
  ],
}
