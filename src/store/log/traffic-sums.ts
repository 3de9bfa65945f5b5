// Sums requests by time and kind: all requests per five minutes, hour and day, with durations; each
// account's per hour and day by outcome. Knows rows of the log and of the tables, not who queries
// them.
import type { Kysely } from 'kysely'
import { addTraffic, noTraffic, type TrafficSums, tookClasses } from '../../contract/traffic.ts'
import type { Dialect, Schema } from '../schema.ts'
import { insertColumns } from '../sql/bulk-columns.ts'
import { type LogGroup, slotMs } from './groups.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

export const tookColumns = Array.from({ length: tookClasses }, (_, i) => `took_${i}` as const)

/** Caller-supplied: unknown models share one value, and nothing grows with the length. */
const maxModelLength = 128

/** Dimensions of the overall traffic. */
interface TrafficKey {
  slotMs: number
  model: string
  channel: string
  interface: string
  status: number
  errorCode: string
}

/** Dimensions of per-account traffic; slots are hours. */
interface AccountTrafficKey {
  slotMs: number
  accountId: string
  status: number
  errorCode: string
}

interface Tallied<Key> {
  key: Key
  sums: TrafficSums
}

const startOf = (ms: number, spanMs: number): number => ms - (ms % spanMs)

/** Tallies in the shortest spans that are stored. */
export class TrafficTally {
  readonly #shared = new Map<string, Tallied<TrafficKey>>()
  readonly #accounts = new Map<string, Tallied<AccountTrafficKey>>()

  add(group: LogGroup): void {
    const { slotMs: slot, accountId, channel, interface: use, status, errorCode, sums } = group
    const model = errorCode === 'model_not_found' ? '' : group.model.slice(0, maxModelLength)
    const name = `${slot} ${model} ${channel} ${use} ${status} ${errorCode}`
    let shared = this.#shared.get(name)
    if (shared === undefined) {
      const key = { slotMs: slot, model, channel, interface: use, status, errorCode }
      shared = { key, sums: noTraffic() }
      this.#shared.set(name, shared)
    }
    addTraffic(shared.sums, sums)
    const hour = startOf(slot, hourMs)
    const accountName = `${hour} ${accountId} ${status} ${errorCode}`
    let own = this.#accounts.get(accountName)
    if (own === undefined) {
      own = { key: { slotMs: hour, accountId, status, errorCode }, sums: noTraffic() }
      this.#accounts.set(accountName, own)
    }
    addTraffic(own.sums, sums)
  }

  shared(): Iterable<Tallied<TrafficKey>> {
    return this.#shared.values()
  }

  accounts(): Iterable<Tallied<AccountTrafficKey>> {
    return this.#accounts.values()
  }
}

type Cells = readonly (string | number)[]

/** Summed by the key cells of a table row, in key order. */
function addUp<Key>(tallied: Iterable<Tallied<Key>>, cellsOf: (key: Key) => Cells) {
  const rows = new Map<string, { cells: Cells; sums: TrafficSums }>()
  for (const { key, sums } of tallied) {
    const cells = cellsOf(key)
    const name = cells.join(' ')
    let row = rows.get(name)
    if (row === undefined) {
      row = { cells, sums: noTraffic() }
      rows.set(name, row)
    }
    addTraffic(row.sums, sums)
  }
  // Rows that are adjacent in the table are written together.
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

export const sumColumns = [
  'requests',
  'retries',
  'total_ms',
  'first_bytes',
  'first_byte_ms',
  'charge_nanos',
  'input_tokens',
  'cache_read_tokens',
] as const

const sumsOf = (sums: TrafficSums): (number | bigint)[] => [
  sums.requests,
  sums.retries,
  sums.totalMs,
  sums.firstBytes,
  sums.firstByteMs,
  sums.chargeNanos,
  sums.inputTokens,
  sums.cacheReadTokens,
]

interface Target {
  table: 'traffic' | 'account_traffic'
  columns: readonly string[]
  ending: string
}

function target(table: Target['table'], key: readonly string[], sums: readonly string[]): Target {
  const added = sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`)
  const ending = `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${added.join(', ')}`
  return { table, columns: [...key, ...sums], ending }
}

const everybodys = target(
  'traffic',
  ['span_ms', 'slot_ms', 'model', 'channel', 'interface', 'status', 'error_code'],
  [...sumColumns, ...tookColumns],
)
const accounts = target(
  'account_traffic',
  ['span_ms', 'slot_ms', 'account_id', 'status', 'error_code'],
  sumColumns,
)

/** Once for each row of the log. */
export async function writeTraffic(
  tx: Kysely<Schema>,
  dialect: Dialect,
  tally: TrafficTally,
): Promise<void> {
  const shared = [slotMs, hourMs, dayMs].flatMap((span) =>
    addUp(tally.shared(), ({ slotMs: at, model, channel, interface: use, status, errorCode }) => [
      ...[span, startOf(at, span), model, channel, use, status, errorCode],
    ]),
  )
  const own = [hourMs, dayMs].flatMap((span) =>
    addUp(tally.accounts(), ({ slotMs: at, accountId, status, errorCode }) => [
      ...[span, startOf(at, span), accountId, status, errorCode],
    ]),
  )
  await insertColumns(tx, dialect, {
    ...everybodys,
    values: shared.flatMap(({ cells, sums }) => [...cells, ...sumsOf(sums), ...sums.took]),
  })
  await insertColumns(tx, dialect, {
    ...accounts,
    values: own.flatMap(({ cells, sums }) => [...cells, ...sumsOf(sums)]),
  })
}
