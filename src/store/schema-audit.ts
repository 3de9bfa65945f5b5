// The audit log as Kysely sees it; a part of schema.ts.
import type { Generated } from 'kysely'

export interface AuditTables {
  audit_log: {
    id: Generated<number>
    at_ms: number
    actor: string
    /** Null of older rows where it cannot be told. */
    actor_kind: string | null
    actor_id: string | null
    action: string
    subject: string
    before: string | null
    after: string | null
    address: string | null
    request_id: string | null
  }
}
