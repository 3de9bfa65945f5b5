// Migration 8: the way of a task beside the task, and its upstream's model where it can be searched
// without reading what else is known of it.
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
