// Migration 40: what tokens and accounts require of the data handling of channels.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const tables = `
ALTER TABLE accounts ADD COLUMN data_policy {text};
ALTER TABLE tokens ADD COLUMN data_policy {text};
`

export const dataPolicy: Migration = { version: 40, up: (dialect) => spell(dialect, tables) }
