// Fills a database with charged calls and the totals that the writer would have added with them, by SQL inside the
// database, where a row is cheapest. Refuses to know what is measured.
import { sql } from 'kysely'
import type { Store } from '../../src/store/index.ts'
import { makeWeeks } from '../../src/store/log/partitions.ts'
import { adding, columnsOf, type GrainName, grains } from '../../src/store/proof/grains.ts'
import { note } from '../lib/part.ts'

const accounts = 200
const tokensEach = 4
const models = 20
const channels = 6
const rowsAtOnce = 250_000
const dayMs = 86_400_000

interface Filling {
  rows: number
  days: number
  /** Midnight, so that whole days are filled. */
  untilMs: number
}

/** As many a day as ten million are in two months. */
export const fillingOf = (rows: number): Filling => ({
  rows,
  days: Math.max(1, Math.round((60 * rows) / 10_000_000)),
  untilMs: Math.floor(Date.now() / dayMs) * dayMs,
})

export const accountName = (i: number): string => `customer-${i}`

type Dialect = Store['dialect']

const hex = (dialect: Dialect, expression: string, width: number): string =>
  dialect === 'sqlite'
    ? `printf('%0${width}x', ${expression})`
    : `lpad(to_hex(CAST(${expression} AS bigint)), ${width}, '0')`

const numbers = (dialect: Dialect, from: number, to: number): string =>
  dialect === 'sqlite'
    ? `WITH RECURSIVE n(i) AS (VALUES (${from}) UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`
    : `WITH n(i) AS (SELECT CAST(g AS bigint) FROM generate_series(${from}, ${to}) AS g)`

/** Pseudo-random and the same each time: a whole number below `below`. */
const some = (salt: number, below: number): string =>
  `(((i * 2654435761 + ${salt * 7919}) % 4294967296) / 97 + i * ${31 + salt}) % ${below}`

/** One call in ten was served by the second channel of its model; one in a hundred has no known cost. */
function callsText(dialect: Dialect, { rows, days, untilMs }: Filling, from: number, to: number) {
  const spanMs = days * dayMs
  return `
    INSERT INTO requests (request_id, at_ms, account_id, token_id, interface, model, channel, status,
      charge_nanos, price_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
      first_byte_ms, total_ms, detail, cost_nanos, booked_at_ms, unit, quantity, estimated, seq, number,
      balance_nanos, hash)
    ${numbers(dialect, from, to)}
    , a AS (SELECT i, CAST(${untilMs - spanMs} + (i - 1) * ${spanMs / rows} AS bigint) AS at,
        ${some(1, accounts)} AS acc, ${some(2, tokensEach)} AS tok, ${some(3, 3)} AS turn,
        ${some(4, 1000)} AS luck FROM n)
    , b AS (SELECT a.*, (acc * 7 + tok * 3 + turn) % ${models} AS mod FROM a)
    SELECT 'req_' || ${hex(dialect, 'at', 12)} || ${hex(dialect, 'i', 20)}, at,
      'acc_' || ${hex(dialect, 'acc', 22)}, 'tok_' || ${hex(dialect, `acc * ${tokensEach} + tok`, 22)},
      'chat', 'bench-' || mod,
      'channel-' || ((mod + CASE WHEN luck % 10 = 0 THEN 1 ELSE 0 END) % ${channels}), 200,
      344000 + mod, 'price_01a1ddc4d136a29b72b2' || ${hex(dialect, 'mod', 2)}, 20 + luck, 200 + luck, 0, 0,
      50, 0, '{}', CASE WHEN luck % 100 = 7 THEN NULL ELSE 200000 + luck * 300 END, at, 'token',
      220 + 2 * luck, 0, i, i, 0, 'bench' FROM b`
}

const keysOf: Readonly<Record<string, string>> = {
  hour_ms: 'booked_at_ms - booked_at_ms % 3600000',
  day_ms: 'booked_at_ms - booked_at_ms % 86400000',
  kind: `'charge'`,
  tier: `''`,
  slot: '0',
  // All inputs are of the first size class, or the second.
  input_bucket: 'CASE WHEN input_tokens > 1000 THEN 1000 ELSE 0 END',
}
const monthMs: Readonly<Record<Dialect, string>> = {
  sqlite: `1000 * unixepoch(booked_at_ms / 1000, 'unixepoch', 'start of month')`,
  postgres: `CAST(1000 * extract(epoch FROM date_trunc('month',
    to_timestamp(booked_at_ms / 1000) AT TIME ZONE 'UTC')) AS bigint)`,
}
const sharesOf: Readonly<Record<string, string>> = {
  amount_nanos: '-charge_nanos',
  entries: '1',
  cost_nanos: 'coalesce(cost_nanos, 0)',
  cost_unknown: 'CASE WHEN cost_nanos IS NULL THEN 1 ELSE 0 END',
  refund_nanos: '0',
}

function totalsText(dialect: Dialect, name: GrainName, from: number, to: number): string {
  const grain = grains[name]
  const columns = columnsOf(grain)
  const shares = columns
    .slice(grain.keys.length)
    .map((column) =>
      column === 'quantity'
        ? 'sum(quantity)'
        : `CAST(sum(${sharesOf[column] ?? column}) AS bigint)`,
    )
  const keys = grain.keys.map((column) =>
    column === 'month_ms' ? monthMs[dialect] : (keysOf[column] ?? column),
  )
  const order = keys.map((_, i) => i + 1).join(', ')
  return `INSERT INTO ${grain.table} (${columns.join(', ')})
    SELECT ${[...keys, ...shares].join(', ')} FROM requests WHERE seq >= ${from} AND seq <= ${to}
    GROUP BY ${order} ${adding(grain)}`
}

export async function fill(store: Store, filling: Filling): Promise<void> {
  const { dialect } = store
  const { rows, days, untilMs } = filling
  if (dialect === 'postgres') await makeWeeks(store, untilMs - (days + 1) * dayMs, untilMs + dayMs)
  await fillCatalog(store, untilMs)
  for (let from = 1; from <= rows; from += rowsAtOnce) {
    const to = Math.min(rows, from + rowsAtOnce - 1)
    await store.tx(async (tx) => {
      await sql.raw(callsText(dialect, filling, from, to)).execute(tx)
      for (const name of ['hour', 'day', 'channel', 'month', 'overall'] as const) {
        await sql.raw(totalsText(dialect, name, from, to)).execute(tx)
      }
    })
    if (to % 1_000_000 === 0) note(`margins: ${to} calls`)
  }
}

async function fillCatalog({ dialect, tx }: Store, untilMs: number): Promise<void> {
  const account = `'acc_' || ${hex(dialect, 'i', 22)}`
  const owner = `'acc_' || ${hex(dialect, `i / ${tokensEach}`, 22)}`
  await tx(async (db) => {
    await sql
      .raw(
        `INSERT INTO accounts (id, name, balance_nanos, held_nanos, source, created_at_ms)
         ${numbers(dialect, 0, accounts - 1)} SELECT ${account}, 'customer-' || i, 0, 0, 'api', ${untilMs} FROM n`,
      )
      .execute(db)
    await sql
      .raw(
        `INSERT INTO tokens (id, account_id, name, hash, prefix, models, limits, allowed_ips, disabled,
           source, created_at_ms)
         ${numbers(dialect, 0, accounts * tokensEach - 1)}
         SELECT 'tok_' || ${hex(dialect, 'i', 22)}, ${owner}, 'token-' || i, 'hash-' || i, 'sk-bench',
           '["*"]', '{}', '[]', 0, 'api', ${untilMs} FROM n`,
      )
      .execute(db)
  })
}
