// Migration 23: the model that served a call of a virtual model or an alias, in its ledger entry (null:
// the one that was called), and whether another than the first choice may serve the calls of a token
// (null: yes).
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = `
ALTER TABLE entries ADD COLUMN served_model {text};
ALTER TABLE tokens ADD COLUMN fallback {text};
`

export const servedModel: Migration = { version: 23, up: (dialect) => spell(dialect, columns) }
