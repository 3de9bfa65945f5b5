// A limit, what was measured against it, and whether it was kept. Refuses to know what was measured.

import { formatTable } from './table.ts'

export interface Verdict {
  what: string
  limit: string
  measured: string
  met: boolean
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((verdict) => [
    verdict.what,
    verdict.limit,
    verdict.measured,
    verdict.met ? 'met' : 'MISSED',
  ])
  return formatTable([['limit', 'allowed', 'measured', 'verdict'], ...rows], [0, 1, 3])
}
