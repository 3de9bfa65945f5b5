// Links that work without a sign-in; a part of schema.ts.

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
}
