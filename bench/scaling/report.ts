// Gateways on one PostgreSQL, as a table. Pure. Refuses to know how anything was measured.

import { formatNumber, formatRatio, formatTable } from '../lib/table.ts'

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
  /** The upstream and the callers: what a user of the gateway would not run on this machine. */
  othersMicros: number
  commitsPerSecond: number
  /** Connections of the gateways to the database, after the slice. */
  connections: number
  failed: number
}

const perThousand = (micros: number): string => formatNumber(micros / 1000)

export function formatScaling(rows: readonly ScalingFigures[]): string {
  const heading = [
    'gateways',
    'calls/s',
    'x first',
    'p50 ms',
    'p99 ms',
    'CPU s / 1,000 calls: gateways',
    'PostgreSQL',
    'upstream, callers',
    'commits/s',
    'calls/commit',
    'connections',
    'failed',
  ]
  const [first] = rows
  const cells = rows.map((row) => [
    row.workers === 1 ? String(row.gateways) : `${row.gateways}, ${row.workers} workers`,
    formatNumber(row.callsPerSecond),
    formatRatio(row.callsPerSecond / (first?.callsPerSecond ?? Number.NaN)),
    formatNumber(row.p50Ms),
    formatNumber(row.p99Ms),
    perThousand(row.gatewayMicros),
    perThousand(row.postgresMicros),
    perThousand(row.othersMicros),
    formatNumber(row.commitsPerSecond),
    formatNumber(row.callsPerSecond / row.commitsPerSecond),
    String(row.connections),
    String(row.failed),
  ])
  return formatTable([heading, ...cells], [0])
}

/** What the figures allow where nothing else is on the machine: one core each, by CPU time alone. */
export function formatLimits(rows: readonly ScalingFigures[]): string {
  const heading = ['gateways', 'calls/s per core of gateways', 'calls/s per core of PostgreSQL']
  const cells = rows.map((row) => [
    row.workers === 1 ? String(row.gateways) : `${row.gateways}, ${row.workers} workers`,
    formatNumber(1_000_000 / row.gatewayMicros),
    formatNumber(1_000_000 / row.postgresMicros),
  ])
  return formatTable([heading, ...cells], [0])
}
