// Migration 11: bounds that staff sets on a token, which members can narrow but not widen. For
// existing tokens the token's own limits count as the bounds.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = `
ALTER TABLE tokens ADD COLUMN staff_bounds {text};
`

export const tokenBounds: Migration = { version: 11, up: (dialect) => spell(dialect, columns) }
