// Migration 88: an alert that occurs again after it was acknowledged asks for attention again, and says so.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE alerts ADD COLUMN recurred_at_ms {int};'

export const recurredAlerts: Migration = { version: 88, up: (dialect) => spell(dialect, column) }
