// Migration 14: which call or task an account was last served beyond its balance for, since its last
// credit. Until the next one it gets no other.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE accounts ADD COLUMN short_ref {text};'

export const shortAccounts: Migration = { version: 14, up: (dialect) => spell(dialect, column) }
