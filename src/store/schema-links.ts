// Links that work without a sign-in, and codes for credit; a part of schema.ts.
import type { Generated } from 'kysely'

export interface LinkTables {
  bill_links: {
    id: string
    account_id: string
    month: string
    language: string
    /** Where it was sent. */
    email: string | null
    created_by: string
    /** A person of the account made it. */
    by_member: number
    created_at_ms: number
    expires_at_ms: number
  }
  /** Bills that were sent, or that a mail server did not take. */
  bill_mails: {
    account_id: string
    month: string
    state: 'sent' | 'failed'
    /** Where it was sent. */
    email: string
    /** Why it was not taken. */
    problem: string | null
    at_ms: number
  }
  codes: {
    id: string
    hash: string
    amount_nanos: bigint
    note: string | null
    created_by: string
    created_at_ms: number
    expires_at_ms: number | null
    /** Of the account that redeemed it. */
    account_id: Generated<string | null>
    redeemed_at_ms: Generated<number | null>
  }
}
