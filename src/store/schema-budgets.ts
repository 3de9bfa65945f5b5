// Tables of budgets.

export interface BudgetTables {
  budgets: {
    id: string
    account_id: string
    scope: string
    subject: string
    amount_nanos: bigint
    per: string
    zone: string
    /** In its list. */
    position: number
    source: string
    /** Start of the period whose charges are counted; null: none are. */
    counted_from_ms: number | null
    /** All receipts of the account up to this one are counted. */
    counted_number: number
    spent_nanos: bigint
  }
  /** At least what the calls of a gateway hold. */
  budget_leases: { budget_id: string; gateway_id: string; amount_nanos: bigint }
}
