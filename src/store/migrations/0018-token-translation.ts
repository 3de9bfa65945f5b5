// Migration 18: whether calls of a token may be translated into another text style. Null: yes.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

const column = 'ALTER TABLE tokens ADD COLUMN translation {text};'

export const tokenTranslation: Migration = { version: 18, up: (dialect) => spell(dialect, column) }
