// Migration 26: alerts keep who resolved them. Null: the gateway, because what they told of was over.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE alerts ADD COLUMN resolved_by {text};'

export const resolvedBy: Migration = { version: 26, up: (dialect) => spell(dialect, column) }
