// Migration 53: revoked tokens are found by their secret, so that an import does not bring one back.
import type { Migration } from './migration.ts'
import { spell } from './spell.ts'

export const revokedSecrets: Migration = {
  version: 53,
  up: (dialect) =>
    spell(
      dialect,
      'CREATE INDEX tokens_revoked_by_hash ON tokens (hash) WHERE revoked_at_ms IS NOT NULL',
    ),
}
