// Migration 50: what upstreams take. Costs are versions of prices that have a channel; calls and tasks have
// their cost, and totals the sum of it, how many charges have none that is known, and what was refunded.
import type { Dialect } from '../schema.ts'
import { keepCalls } from './0033-call-rows.ts'
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const totals = ['hourly_totals', 'daily_totals', 'tag_totals']
const ofKind = totals.filter((table) => table !== 'tag_totals')

const columns = `
ALTER TABLE prices ADD COLUMN channel {text};
ALTER TABLE prices ADD COLUMN currency {text};
ALTER TABLE tasks ADD COLUMN cost_nanos {int};
ALTER TABLE requests ADD COLUMN cost_nanos {int};
${totals
  .flatMap((table) =>
    ['cost_nanos', 'cost_unknown', 'refund_nanos'].map(
      (name) => `ALTER TABLE ${table} ADD COLUMN ${name} {int} NOT NULL DEFAULT 0;`,
    ),
  )
  .join('\n')}
${ofKind
  .map(
    (table) => `
UPDATE ${table} SET cost_unknown = entries WHERE kind = 'charge';
UPDATE ${table} SET refund_nanos = amount_nanos WHERE kind = 'refund';`,
  )
  .join('\n')}
UPDATE tag_totals SET cost_unknown = entries;
`

export const costColumns: Migration = {
  version: 50,
  up: (dialect: Dialect) => [
    ...spell(dialect, columns),
    ...keepCalls(dialect, ['service_tier', 'refund_of', 'cost_nanos']),
  ],
}
