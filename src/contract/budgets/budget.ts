// A budget: how much a token, an account or a tag of an account may spend in a period. It limits what
// is admitted; the money itself is the account's.
import type { Per } from './period.ts'

export interface Budget {
  /** Zero refuses everything. */
  amountNanos: bigint
  per: Per
  /** IANA name of the time zone that its periods begin and end in. */
  zone: string
}

export type BudgetScope = 'account' | 'token' | 'tag'

/** What a budget is of. */
export interface BudgetOf {
  accountId: string
  scope: BudgetScope
  /** Id of the account, of the token, or a tag such as team=red. */
  subject: string
}

export const budgetId = ({ accountId, scope, subject }: BudgetOf): string =>
  scope === 'tag' ? `tag:${accountId}:${subject}` : `${scope}:${subject}`

/** A budget, and what has been spent and is held of it. */
export interface BudgetState extends BudgetOf, Budget {
  id: string
  spentNanos: bigint
  heldNanos: bigint
  /** The period has begun then. */
  fromMs: number
  /** Infinity: it never resets. */
  resetsAtMs: number
}
