// Migration 17: the gateway that serves an account beyond its balance. If it is gone before it has
// charged for that call, the claim in `short_ref` is released.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE accounts ADD COLUMN short_gateway_id {text};'

export const shortClaims: Migration = { version: 17, up: (dialect) => spell(dialect, column) }
