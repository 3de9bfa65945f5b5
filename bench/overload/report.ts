// What callers get when they ask for more than the channels can serve, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatPercent, formatRows, type Verdict } from '../lib/report.ts'
import type { GroupResult } from '../load/open-load.ts'

export interface OverloadFigures {
  /** At as many calls as there are places. */
  bestPerSecond: number
  /** Offered in the overload, over the best. */
  factor: number
  seconds: number
  groups: readonly GroupResult[]
  /** The account that asks for less than its share. */
  modest: string
  adminMs: { p50: number; max: number; count: number }
}

const columns = (seconds: number): Columns<GroupResult> => ({
  account: (row) => row.name,
  'offered/s': (row) => row.sent / seconds,
  'served/s': (row) => row.served / seconds,
  served: (row) => formatPercent(row.served / row.sent),
  'p50 ms': (row) => row.p50Ms,
  'p99 ms': (row) => row.p99Ms,
  'refused/s': (row) => row.refused / seconds,
  'refused p99 ms': (row) => row.refusedP99Ms,
  failed: (row) => row.failed,
})

export const formatOverload = ({ seconds, groups }: OverloadFigures): string =>
  formatRows(columns(seconds), groups)

export function checkOverload(figures: OverloadFigures): Verdict[] {
  const { bestPerSecond, seconds, groups, modest, adminMs } = figures
  const total = (field: 'served' | 'refused' | 'failed') =>
    groups.reduce((sum, group) => sum + group[field], 0)
  const small = groups.find(({ name }) => name === modest)!
  return [
    check({
      label: 'served under overload, of the best rate',
      value: (total('served') / seconds / bestPerSecond) * 100,
      limit: '>= 90 %',
    }),
    check({
      label: 'p99 of served calls',
      value: Math.max(...groups.map(({ p99Ms }) => p99Ms)),
      limit: '<= 2500 ms',
      note: 'a call waits 2 s for a place at most',
    }),
    check({
      label: 'p99 of refusals',
      value: Math.max(...groups.map(({ refusedP99Ms }) => refusedP99Ms).filter(Number.isFinite)),
      limit: '<= 100 ms',
      valid: total('refused') > 0,
    }),
    check({
      label: 'neither served nor refused with Retry-After',
      value: total('failed'),
      limit: '= 0',
    }),
    check({
      label: 'served of an account that asks for less than its share',
      value: (small.served / small.sent) * 100,
      limit: '>= 95 %',
    }),
    check({ label: 'slowest answer of the admin API', value: adminMs.max, limit: '<= 200 ms' }),
  ]
}
