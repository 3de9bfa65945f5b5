// A bill with its charges by the values of a tag, or by end user: both from the same moment, so that
// the items add up to the bill.
import type { BillOf } from '../../billing/bills/bill.ts'
import { readBill, type ShownBill } from '../../billing/bills/read-bill.ts'
import { sumTaggedUsage } from '../../billing/prices/tagged-usage.ts'
import type { UsageRow } from '../../billing/prices/usage-rows.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { isTagKey, type TagKey } from '../../contract/tags/index.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { inSnapshot } from '../../store/index.ts'
import { type BooksDeps, billDeps } from './bill-deps.ts'

interface TaggedBill {
  bill: ShownBill
  /** Absent where the bill is not grouped. */
  items?: UsageRow[]
}

export async function readTaggedBill(
  deps: BooksDeps,
  of: BillOf,
  tagKey: TagKey | undefined,
): Promise<TaggedBill | Refusal> {
  if (tagKey === undefined) return { bill: await readBill(billDeps(deps), of) }
  const { accountId, month } = of
  const { dialect } = deps.store
  return inSnapshot(deps.store, async (db) => {
    const asked = { accountId, ...monthBounds(month)!, by: [], tagKey, dialect }
    const { rows: items } = await sumTaggedUsage(db, asked)
    return { bill: await readBill(billDeps(deps), of, db), items }
  })
}

export function tagKeyIn(text: string | undefined): TagKey | undefined | Refusal {
  if (text === undefined || isTagKey(text)) return text
  const message = "'group_by' must be end_user or a tag, such as tag:team"
  return refuse('invalid_request', message, { param: 'group_by' })
}
