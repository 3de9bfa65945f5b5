// The tables as Kysely sees them, the same on both dialects. Integers follow their names: columns
// ending in `_nanos` are bigint, every other integer is a number; flags are 0 or 1.
import type { Generated } from 'kysely'
import type { ProfileField } from '../contract/config-schema/profile-fields.ts'
import type { LossReason } from '../contract/ledger.ts'
import type { TaskState } from '../contract/task.ts'
import type { CallRow } from './rows/call-row.ts'
import type { LedgerRow, ReceiptColumns } from './rows/ledger-rows.ts'
import type { AuditTables } from './schema-audit.ts'
import type { BatchTables } from './schema-batches.ts'
import type { BudgetTables } from './schema-budgets.ts'
import type { DeliveryTables } from './schema-deliveries.ts'
import type { LinkTables } from './schema-links.ts'
import type { LogFactTables } from './schema-log.ts'
import type { TotalTables } from './schema-totals.ts'

export interface Schema
  extends AuditTables,
    BatchTables,
    BudgetTables,
    DeliveryTables,
    LinkTables,
    LogFactTables,
    TotalTables {
  meta: { key: string; value: string }
  accounts: { [Field in ProfileField]: Generated<string | null> } & {
    id: string
    name: string
    balance_nanos: bigint
    held_nanos: bigint
    /** Sum of the gateways' credit leases. */
    leased_nanos: Generated<bigint>
    source: string
    created_at_ms: number
    /** Time since which the account is suspended, because its ledger does not add up. */
    suspended_since_ms: Generated<number | null>
    /** No entry is booked before this moment: the end of its newest closed month. */
    closed_until_ms: Generated<number>
    /** The end of its chain of receipts: the last number, 0 before the first, its hash and its balance. */
    last_number: Generated<number>
    last_hash: Generated<string>
    last_balance_nanos: Generated<bigint>
    /** The call or task that was served beyond the balance since the last credit. */
    short_ref: Generated<string | null>
    /** The gateway that charges for that call, or has. */
    short_gateway_id: Generated<string | null>
    /** JSON list of the names of tags it declares. */
    tag_names: Generated<string | null>
    /** How it keeps end users; null: hashed. */
    end_users: Generated<string | null>
    /** Notices tell when the balance falls below it. */
    balance_low_nanos: Generated<bigint | null>
    /** Tokens that its members may have; null: the usual number. */
    token_limit: Generated<number | null>
    /** JSON of what channels must promise of data; null: nothing. */
    data_policy: Generated<string | null>
  }
  /** All that moves money but the charges of calls; those of calls from before schema 33. */
  entries: GeneratedIn<LedgerRow, 'id' | 'tags'>
  tokens: {
    id: string
    account_id: string
    name: string
    hash: string
    prefix: string
    models: string
    limits: string
    allowed_ips: string
    expires_at_ms: number | null
    disabled: number
    source: string
    created_at_ms: number
    revoked_at_ms: number | null
    staff_bounds: string | null
    translation: string | null
    /** JSON object of its default tags. */
    tags: Generated<string | null>
    /** The token whose budget it shares; null: its own. */
    lineage: string | null
    fallback: string | null
    data_policy: Generated<string | null>
  }
  channels: {
    id: string
    name: string
    body: string
    created_at_ms: number
    updated_at_ms: number
  }
  channel_keys: { id: string; channel_id: string; position: number; ciphertext: string }
  models: { name: string; body: string; updated_at_ms: number }
  prices: {
    id: string
    model: string
    body: string
    source: string
    effective_from_ms: number
    created_at_ms: number
    /** Account of the price; null: the price of all accounts. */
    account_id: string | null
    /** As the audit log names them; null: the file, the gateway, or not known. */
    created_by: Generated<string | null>
    /** Of a cost: the channel whose upstream takes it, and the currency if not the ledger's. */
    channel: Generated<string | null>
    currency: Generated<string | null>
  }
  /** Log rows of calls; those that were charged are entries and receipts as well. */
  requests: GeneratedIn<CallRow, 'seq' | NullIn<CallRow>>
  /** A view: entries, and calls that were charged. */
  ledger: LedgerRow & { [Name in keyof ReceiptColumns]: ReceiptColumns[Name] | null }
  tasks: {
    id: string
    account_id: string
    token_id: string
    request_id: string
    interface: string
    model: string
    protocol: string
    channel_id: string
    channel: string
    upstream_id: string | null
    state: TaskState
    progress: number
    hold_nanos: bigint
    charge_nanos: bigint
    price_id: string
    created_at_ms: number
    updated_at_ms: number
    started_at_ms: number | null
    finished_at_ms: number | null
    next_check_at_ms: number
    checks: number
    lease_owner: string | null
    lease_until_ms: number
    fence: number
    hidden: number
    body: string
    external_id: string | null
    /** Event history; see contract/timeline.ts. Null for rows older than the column. */
    timeline: string | null
    upstream_model: string | null
    tags: Generated<string | null>
    /** Null: not known, or not over. */
    cost_nanos: Generated<bigint | null>
  }
  gateways: { id: string; lock_key: number; started_at_ms: number }
  credit_leases: { account_id: string; gateway_id: string; amount_nanos: bigint }
  idempotency_keys: {
    account_id: string
    path: string
    key: string
    fingerprint: string
    task_id: string
    created_at_ms: number
  }
  task_texts: {
    task_id: string
    part: 'request' | 'answer'
    sealed: string
    expires_at_ms: number
  }
  files: {
    task_id: string
    part: number
    state: 'claimed' | 'kept' | 'gone'
    place: string
    name: string
    attempts: number
    claimed_until_ms: number
    since_ms: number
    bytes: number
    type: string
    etag: string
  }
  upstream_ids: { segment: number; upstream_request_id: string; seq: number }
  /** Complete segments of the request log, with the lowest and highest ids they contain. */
  log_segments: {
    segment: number
    row_count: number
    from_id: string
    until_id: string
    until_ms: number
  }
  /** Posting list of a value in a segment. */
  log_values: { segment: number; field: string; value: string; hits: string }
  traffic: TrafficTable
  account_traffic: AccountTrafficTable
  /** One for each row of `entries` that moved a balance, chained by hash and numbered without gaps. */
  receipts: {
    entry_id: number
    account_id: string
    number: number
    /** After it. */
    balance_nanos: bigint
    hash: string
  }
  /** Signed points of an account's chain: a seal covers everything up to its number. */
  seals: {
    account_id: string
    number: number
    hash: string
    /** Public key, base64url. */
    key: string
    signature: string
    /** The latest time of all entries up to it. */
    at_ms: number
  }
  closed_months: {
    account_id: string
    /** As in 2026-11. */
    month: string
    closed_at_ms: number
    note: string | null
    /** The last receipt that belongs to it or to an earlier one. */
    last_number: number
    /** The bill as it was closed. */
    body: string
    key: string
    signature: string
  }
  /** Upstream work that no caller paid for. */
  losses: {
    /** In the order of writing. */
    seq: Generated<number>
    id: string
    at_ms: number
    account_id: string
    ref: string
    reason: LossReason
    channel: string
    model: string
    /** Empty where none is known. */
    upstream_id: string
    unit: string | null
    quantity: number | null
    /** What the caller would have paid. */
    amount_nanos: bigint
    is_estimate: number
  }
  /** Abandoned tasks that may still finish upstream. */
  abandoned_checks: { task_id: string; next_at_ms: number; polls: number }
  statements: {
    id: string
    at_ms: number
    channel: string
    name: string
    from_ms: number
    until_ms: number
    body: string
  }
  statement_lines: {
    statement_id: string
    number: number
    outcome: string
    at_ms: number | null
    model: string | null
    upstream_id: string | null
    quantity: number | null
    amount_nanos: bigint | null
    ref: string | null
    our_quantity: number | null
    our_amount_nanos: bigint | null
    /** What explains the difference; null: that which the outcome says. */
    reason: string | null
    /** What the work should cost; 0: not known, or of another month. Null in lines of 0.3. */
    cost_nanos: bigint | null
    /** The first line of those that are compared together; null: it is this one. */
    part_of: number | null
    /** On the first line of several: their sums. */
    their_quantity: number | null
    their_nanos: bigint | null
    /** That of the statement, where it is not the ledger's. */
    currency: string | null
  }
  /** Months of channels that were closed against what the upstream billed, signed. */
  channel_months: {
    channel: string
    month: string
    closed_at_ms: number
    /** The idempotency key of the call that closed it, hashed. */
    request_key: string | null
    body: string
    key: string
    signature: string
  }
  /** Alerts for administrators. */
  alerts: {
    id: string
    kind: string
    subject: string
    message: string
    since_ms: number
    last_ms: number
    times: number
    resolved_at_ms: number | null
    /** Null: the gateway, or it is open. */
    resolved_by: string | null
    acknowledged_at_ms: number | null
    acknowledged_by: string | null
    /** It has occurred since it was acknowledged, which is undone by that. */
    recurred_at_ms: Generated<number | null>
  }
  people: {
    id: string
    name: string
    role: string
    account_id: string | null
    password: string
    disabled: number
    created_at_ms: number
    /** Issuer and subject. */
    subject: string | null
  }
  sessions: {
    hash: string
    person_id: string
    created_at_ms: number
    seen_at_ms: number
    address: string
    agent: string
  }
  invitations: {
    id: string
    hash: string
    role: string
    account_id: string | null
    email: string | null
    person_id: string | null
    created_by: string
    created_by_id: string | null
    created_at_ms: number
    expires_at_ms: number
    accepted_at_ms: number | null
    accepted_by_id: string | null
  }
  callback_secrets: { account_id: string; generation: number; rotated_at_ms: number }
  used_sign_ins: { hash: string; at_ms: number }
  failed_sign_ins: { subject: string; failures: number; last_at_ms: number }
}

interface TrafficSumColumns {
  requests: number
  /** Retries of clients among them. */
  retries: number
  total_ms: number
  /** Requests with a measured first byte, and their times. */
  first_bytes: number
  first_byte_ms: number
  charge_nanos: bigint
  /** Whole inputs, and what of them was read from a cache. */
  input_tokens: number
  cache_read_tokens: number
}

/** All requests in a span of time; the empty string stands for an absent value. */
interface TrafficTable extends TrafficSumColumns {
  span_ms: number
  slot_ms: number
  model: string
  channel: string
  interface: string
  status: number
  error_code: string
  /** How many took up to 8, 16, 32 … ms. */
  [took: `took_${number}`]: number
}

/** An account's requests in a span of time; their models are in hourly_totals. */
interface AccountTrafficTable extends TrafficSumColumns {
  span_ms: number
  slot_ms: number
  account_id: string
  status: number
  error_code: string
}

type GeneratedIn<Row, Names extends keyof Row> = {
  [Name in keyof Row]: Name extends Names ? Generated<Row[Name]> : Row[Name]
}
type NullIn<Row> = { [Name in keyof Row]: null extends Row[Name] ? Name : never }[keyof Row]

export type Dialect = 'sqlite' | 'postgres'
