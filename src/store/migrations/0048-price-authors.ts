// Migration 48: who made a version of a price.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

export const priceAuthors: Migration = {
  version: 48,
  up: (dialect) => spell(dialect, 'ALTER TABLE prices ADD COLUMN created_by {text}'),
}
