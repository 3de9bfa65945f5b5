// What each account was charged in the running month, by UTC as bills have it.
import type { UsageRow } from '../../../src/admin/traffic/traffic-schema.ts'
import { thisMonth } from '../../lib/resources/bill.ts'
import { useResource } from '../../lib/use-resource.ts'

const from = () => `${thisMonth()}-01T00:00:00Z`

/** Undefined while it is not known; an account without charges has none. */
export function useMonthCharges(): (account: string) => string | undefined {
  const { data } = useResource<{ items: UsageRow[] }>('/usage', {
    query: { from: from(), by: 'account' },
  })
  return (account) => data && (data.items.find((row) => row.account === account)?.amount ?? '0.00')
}
