// Migration 8: the timeline of a task in a column of its own, and its upstream model where it can
// be searched without reading the body.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = `
ALTER TABLE tasks ADD COLUMN trail {text};
ALTER TABLE tasks ADD COLUMN upstream_model {text};
`

const indexes = `
DROP INDEX tasks_of_account;
CREATE INDEX tasks_of_account ON tasks
  (account_id, id, hidden, interface, protocol, state, model, upstream_model);
`

const fill = {
  sqlite: `UPDATE tasks SET upstream_model = body ->> '$.upstreamModel'`,
  postgres: `UPDATE tasks SET upstream_model = CAST(body AS json) ->> 'upstreamModel'`,
} as const

export const trailColumns: Migration = {
  version: 8,
  up: (dialect) => [...spell(dialect, columns), fill[dialect], ...spell(dialect, indexes)],
}
