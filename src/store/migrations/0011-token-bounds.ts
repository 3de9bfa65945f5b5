// Migration 11: what staff has set on a token, which members can narrow but not widen. Of tokens that
// were there before, it counts as what they say.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const columns = `
ALTER TABLE tokens ADD COLUMN staff_bounds {text};
`

export const tokenBounds: Migration = { version: 11, up: (dialect) => spell(dialect, columns) }
