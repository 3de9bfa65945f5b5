// Migration 62: open alerts can be acknowledged: they stay open, and stop asking for attention.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

export const acknowledgedAlerts: Migration = {
  version: 62,
  up: (dialect) =>
    spell(
      dialect,
      `ALTER TABLE alerts ADD COLUMN acknowledged_at_ms {int};
       ALTER TABLE alerts ADD COLUMN acknowledged_by {text};`,
    ),
}
