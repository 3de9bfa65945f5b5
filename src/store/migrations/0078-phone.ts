// Migration 78: the telephone number of an account.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE accounts ADD COLUMN phone {text};'

export const phoneColumn: Migration = { version: 78, up: (dialect) => spell(dialect, column) }
