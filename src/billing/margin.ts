// What is left of the charge of a request or a task: less refunds, less what upstreams take.
import type { RequestRecord } from '../contract/requests.ts'
import type { Task } from '../contract/task.ts'
import { formatNanos } from '../lib/text/decimal.ts'

/** Undefined: its cost is not known. */
export interface Costed {
  chargeNanos: bigint
  costNanos: bigint | undefined
}

/** The row of a call has no cost where nothing was served. */
export const costedCall = ({ chargeNanos, costNanos = 0n }: RequestRecord): Costed => ({
  chargeNanos,
  costNanos: costNanos ?? undefined,
})

export const costedTask = ({ chargeNanos, costNanos }: Task): Costed => ({ chargeNanos, costNanos })

/** As shown to staff. */
export function marginOf({ chargeNanos, costNanos }: Costed, refundedNanos: bigint) {
  if (costNanos === undefined) return { cost: null, margin: null }
  return {
    cost: formatNanos(costNanos),
    margin: formatNanos(chargeNanos - refundedNanos - costNanos),
  }
}
