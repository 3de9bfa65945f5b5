// Migration 47: who an account is, for people and for bills.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = `
ALTER TABLE accounts ADD COLUMN display_name {text};
ALTER TABLE accounts ADD COLUMN legal_name {text};
ALTER TABLE accounts ADD COLUMN address {text};
ALTER TABLE accounts ADD COLUMN tax_id {text};
ALTER TABLE accounts ADD COLUMN email {text};
ALTER TABLE accounts ADD COLUMN contact {text};
`

export const profileColumns: Migration = { version: 47, up: (dialect) => spell(dialect, columns) }
