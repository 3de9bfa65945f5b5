// Gateways on one PostgreSQL, as a table. Pure. Refuses to know how anything was measured.

import { type Columns, formatRatio, formatRows } from '../lib/report.ts'

export interface ScalingFigures {
  gateways: number
  /** Processes of each. */
  workers: number
  callsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** CPU time for one call. */
  gatewayMicros: number
  postgresMicros: number
  /** The upstream and the callers: processes that do not run beside a gateway in production. */
  othersMicros: number
  commitsPerSecond: number
  /** Connections of the gateways to the database, after the slice. */
  connections: number
  failed: number
}

const nameOf = ({ gateways, workers }: ScalingFigures): string =>
  workers === 1 ? String(gateways) : `${gateways}, ${workers} workers`

export function formatScaling(rows: readonly ScalingFigures[]): string {
  const first = rows[0]?.callsPerSecond ?? Number.NaN
  const columns: Columns<ScalingFigures> = {
    gateways: nameOf,
    'calls/s': (row) => row.callsPerSecond,
    'x first': (row) => formatRatio(row.callsPerSecond / first),
    'p50 ms': (row) => row.p50Ms,
    'p99 ms': (row) => row.p99Ms,
    'CPU s / 1,000 calls: gateways': (row) => row.gatewayMicros / 1000,
    'PostgreSQL s': (row) => row.postgresMicros / 1000,
    'upstream, callers': (row) => row.othersMicros / 1000,
    'commits/s': (row) => row.commitsPerSecond,
    'calls/commit': (row) => row.callsPerSecond / row.commitsPerSecond,
    connections: (row) => row.connections,
    failed: (row) => row.failed,
  }
  return formatRows(columns, rows)
}

const coreColumns: Columns<ScalingFigures> = {
  gateways: nameOf,
  'calls/s per core of gateways': (row) => 1_000_000 / row.gatewayMicros,
  'calls/s per core of PostgreSQL': (row) => 1_000_000 / row.postgresMicros,
}

/** What the figures allow on dedicated machines: one core each, by CPU time alone. */
export const formatPerCore = (rows: readonly ScalingFigures[]): string =>
  formatRows(coreColumns, rows)
