// The tables of callbacks and notices, and of their deliveries. Part of schema.ts.

export interface DeliveryTables {
  callbacks: {
    id: string
    task_id: string
    account_id: string
    url: string
    state: 'waiting' | 'delivered' | 'exhausted'
    attempts: number
    next_at_ms: number
    lease_owner: string | null
    lease_until_ms: number
    created_at_ms: number
    ended_at_ms: number | null
  }
  callback_attempts: {
    callback_id: string
    number: number
    at_ms: number
    took_ms: number
    status: number | null
    error: string | null
  }
  /** Who is sent notices. */
  webhooks: {
    id: string
    /** An https address, or mailto: and an e-mail address. */
    address: string
    body: string
    /** Ciphertext; null for e-mail, which is not signed. */
    secret: string | null
    disabled: number
    source: string
    created_at_ms: number
  }
  notices: {
    id: string
    type: string
    at_ms: number
    data: string
    /** What may be told once only. */
    once: string | null
  }
  notice_deliveries: {
    id: string
    notice_id: string
    webhook_id: string
    url: string
    state: 'waiting' | 'delivered' | 'exhausted'
    attempts: number
    next_at_ms: number
    lease_owner: string | null
    lease_until_ms: number
    created_at_ms: number
    ended_at_ms: number | null
  }
  notice_attempts: {
    delivery_id: string
    number: number
    at_ms: number
    took_ms: number
    status: number | null
    error: string | null
  }
  /** What has been told and not yet ended, by the gateway that reports it or by all (empty). */
  notice_states: { type: string; subject: string; reporter: string; body: string; at_ms: number }
}
