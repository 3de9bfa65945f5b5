// The gateway beside its peers: what a call costs, and what of it is left after the process was killed.
// Pure. Refuses to know how anything was measured.

import type { Slice } from '../cpu/report.ts'
import {
  type Columns,
  check,
  formatRatio,
  formatRows,
  megabytes,
  type Verdict,
} from '../lib/report.ts'
import { median } from '../lib/stats.ts'
import type { Mode } from '../payload/index.ts'

export interface KillFigures {
  target: string
  mode: Mode
  /** Complete answers that callers had when the process was killed. */
  answered: number
  /** Charges of these calls after the next start; undefined: it keeps none. */
  charged?: number
  /** Where the charges are, or why there are none. */
  books: string
}

interface PeerFigures {
  target: string
  mode: Mode
  micros: number
  /** CPU beside the gateway's in the same round: the median, the smallest and the largest. */
  ratios: readonly number[]
  perSecond: number
  p50Ms: number
  p99Ms: number
  rssBytes: number
  peakBytes: number
  failed: number
}

const labels: Record<Mode, string> = { json: 'JSON', stream: 'stream' }

export function summarisePeers(slices: readonly Slice[], own: string): PeerFigures[] {
  const groups = Map.groupBy(slices, ({ mode, target }) => `${mode} ${target}`)
  return [...groups.values()].map((group) => {
    const { mode, target } = group[0]!
    const beside = groups.get(`${mode} ${own}`) ?? []
    const middle = (field: 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicrosPerRequest') =>
      median(group.map((slice) => slice[field]))
    return {
      target,
      mode,
      micros: middle('cpuMicrosPerRequest'),
      ratios: group.map((slice, i) => slice.cpuMicrosPerRequest / beside[i]!.cpuMicrosPerRequest),
      perSecond: middle('requestsPerSecond'),
      p50Ms: middle('p50Ms'),
      p99Ms: middle('p99Ms'),
      rssBytes: Math.max(...group.map((slice) => slice.rssBytes)),
      peakBytes: Math.max(...group.map((slice) => slice.peakBytes)),
      failed: group.reduce((sum, slice) => sum + slice.failed, 0),
    }
  })
}

const columns: Columns<PeerFigures> = {
  call: (row) => labels[row.mode],
  target: (row) => row.target,
  'CPU us/req': (row) => row.micros,
  'x gateway': ({ ratios }) => formatRatio(median(ratios)),
  'from to': ({ ratios }) =>
    `${formatRatio(Math.min(...ratios))} ${formatRatio(Math.max(...ratios))}`,
  'req/s': (row) => row.perSecond,
  'p50 ms': (row) => row.p50Ms,
  'p99 ms': (row) => row.p99Ms,
  'RSS MB': (row) => megabytes(row.rssBytes),
  'peak MB': (row) => megabytes(row.peakBytes),
  failed: (row) => row.failed,
}

export const formatPeers = (rows: readonly PeerFigures[]): string => formatRows(columns, rows)

/** A call that was charged although its caller had no complete answer yet is no loss. */
const lostOf = ({ answered, charged = 0 }: KillFigures): number => Math.max(0, answered - charged)

const killColumns: Columns<KillFigures> = {
  call: (row) => labels[row.mode],
  killed: (row) => row.target,
  answered: (row) => row.answered,
  'charged after the next start': (row) => row.charged ?? 0,
  lost: lostOf,
  books: (row) => row.books,
}

export const formatKills = (rows: readonly KillFigures[]): string => formatRows(killColumns, rows)

export function checkPeers(
  rows: readonly PeerFigures[],
  kills: readonly KillFigures[],
  own: string,
): Verdict[] {
  const cpu = rows
    .filter(({ target }) => target !== own)
    .map(({ target, mode, ratios }) =>
      check({
        label: `${labels[mode]} CPU of ${target} beside the gateway`,
        value: median(ratios),
        limit: '>= 10x',
        // Without a single complete answer there is no figure.
        valid: Number.isFinite(median(ratios)),
      }),
    )
  const lost = kills
    .filter(({ target }) => target === own)
    .map((row) =>
      check({
        label: `charges lost when the gateway is killed, ${labels[row.mode]}`,
        value: lostOf(row),
        limit: '= 0',
        valid: row.answered > 0,
      }),
    )
  return [...cpu, ...lost]
}
