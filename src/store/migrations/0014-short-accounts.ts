// Migration 14: the call or task for which an account was last served beyond its balance since its
// last credit. Until the next credit there is no other.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE accounts ADD COLUMN short_ref {text};'

export const shortAccounts: Migration = { version: 14, up: (dialect) => spell(dialect, column) }
