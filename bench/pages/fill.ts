// Fills a database with the log of a busy gateway, by SQL inside the database, where a row is
// cheapest; the log indexer of the gateway then indexes it. Refuses to know what is measured.
import { type RawBuilder, sql } from 'kysely'
import type { Store } from '../../src/store/index.ts'
import { indexNextSegment } from '../../src/store/log/indexer.ts'
import { makeWeeks } from '../../src/store/log/partitions.ts'

export interface Filling {
  rows: number
  tasks: number
  entries: number
  days: number
  untilMs: number
}

export const accounts = 500
const tokensEach = 4
const models = 20
const channels = 6
const rowsAtOnce = 100_000
const dayMs = 86_400_000

/** Names in the rows; the last three are in hardly any row. */
export const names = {
  account: (i: number) => `acc_${i.toString(16).padStart(22, '0')}`,
  token: (i: number) => `tok_${i.toString(16).padStart(22, '0')}`,
  model: (i: number) => `bench-${i}`,
  channel: (i: number) => `channel-${i}`,
  rareAccount: 'acc_rare',
  rareModel: 'bench-once',
  rareError: 'seldom',
  /** One in eight of the tagged rows, and one in twenty thousand. */
  team: 'team=team-3',
  job: 'job=7',
  endUser: 'eu_77',
}

type Dialect = Store['dialect']

/** A number in hexadecimal digits. */
const hex = (dialect: Dialect, expression: string, width: number): string =>
  dialect === 'sqlite'
    ? `printf('%0${width}x', ${expression})`
    : `lpad(to_hex(CAST(${expression} AS bigint)), ${width}, '0')`

/** The numbers from one to another, as column i of n. */
const numbers = (dialect: Dialect, from: number, to: number): string =>
  dialect === 'sqlite'
    ? `WITH RECURSIVE n(i) AS
        (VALUES (${from}) UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`
    : `WITH n(i) AS (SELECT CAST(g AS bigint) FROM generate_series(${from}, ${to}) AS g)`

/** Pseudo-random and the same each time: a whole number below `below`. */
const pseudoRandom = (salt: number, below: number): string =>
  `(((i * 2654435761 + ${salt * 7919}) % 4294967296) / 97 + i * ${31 + salt}) % ${below}`

const whole = (expression: string): string => `CAST(${expression} AS bigint)`

/** Few accounts have most of the rows. */
const someAccount = whole(
  `${accounts} * (${pseudoRandom(1, 1009)} / 1009.0) * (${pseudoRandom(1, 1009)} / 1009.0)`,
)

/** The JSON of a request's detail, from the columns below. */
const detail = `'{"stream":true,"ending":"complete","upstreamModel":"bench-upstream-' || mod ||
  '","reported":{"prompt_tokens":' || (20 + luck) || ',"completion_tokens":' || (200 + luck) ||
  ',"total_tokens":' || (220 + 2 * luck) || ',"prompt_tokens_details":{"cached_tokens":0}},' ||
  '"attempts":[{"channel":"channel-' || chan || '","key":1,"afterMs":1,"ms":' || took ||
  ',"status":' || status || '}]}'`

/** Two rows of three have tags: few teams, many jobs and many end users. */
const tags = `CASE i % 3 WHEN 0 THEN NULL
  WHEN 1 THEN 'job=' || (i % 20011) || ',team=team-' || (acc % 8)
  ELSE 'team=team-' || (acc % 8) || ',@=eu_' || (i % 100003) END`

const statusByLuck = `CASE WHEN luck < 950 THEN 200 WHEN luck < 970 THEN 429 WHEN luck < 980 THEN 400
  WHEN luck < 988 THEN 404 WHEN luck < 994 THEN 502 WHEN luck < 997 THEN 504 ELSE 503 END`

function requestsText(
  dialect: Dialect,
  { rows, days, untilMs }: Filling,
  from: number,
  to: number,
) {
  const spanMs = days * dayMs
  return `
    INSERT INTO requests (request_id, at_ms, account_id, token_id, interface, model, channel,
      upstream_request_id, status, error_code, charge_nanos, price_id, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, first_byte_ms, total_ms, detail, tags)
    ${numbers(dialect, from, to)}
    , a AS (SELECT i, ${whole(`${untilMs - spanMs} + i * ${spanMs / rows}`)} AS ended,
      ${someAccount} AS acc, ${pseudoRandom(2, tokensEach)} AS tok, ${pseudoRandom(3, 3)} AS turn,
      ${pseudoRandom(4, 1000)} AS luck, 40 + ${pseudoRandom(5, 4000)} + ${pseudoRandom(6, 97)} / 96 * 30000 AS took
      FROM n)
    , m AS (SELECT a.*, (acc * 7 + tok * 3 + turn) % ${models} AS mod FROM a)
    , b AS (SELECT m.*, ended - took AS began,
      CASE WHEN mod < 15 THEN mod % ${channels - 1} ELSE ${channels - 1} END AS chan,
      ${statusByLuck} AS status FROM m)
    SELECT 'req_' || ${hex(dialect, 'began', 12)} || ${hex(dialect, 'i * 7919', 20)}, began,
      CASE WHEN i % ${Math.ceil(rows / 3)} = 77 THEN '${names.rareAccount}'
        ELSE 'acc_' || ${hex(dialect, 'acc', 22)} END,
      'tok_' || ${hex(dialect, `acc * ${tokensEach} + tok`, 22)}, 'chat',
      CASE WHEN i = ${Math.ceil(rows / 50)} THEN '${names.rareModel}' ELSE 'bench-' || mod END,
      CASE WHEN status IN (400, 404, 429) THEN NULL ELSE 'channel-' || chan END,
      CASE WHEN status = 200 THEN 'chatcmpl-' || ${hex(dialect, `${pseudoRandom(7, 4_294_967_296)}`, 16)}
        || ${hex(dialect, 'i', 16)} END,
      status, CASE status WHEN 200 THEN NULL WHEN 429 THEN 'rate_limit_exceeded'
        WHEN 400 THEN 'invalid_request' WHEN 404 THEN 'model_not_found'
        WHEN 502 THEN 'upstream_error' WHEN 504 THEN 'upstream_timeout'
        ELSE CASE WHEN i % 1000003 = 5 THEN '${names.rareError}' ELSE 'overloaded' END END,
      CASE WHEN status = 200 THEN 344000 + mod ELSE 0 END,
      CASE WHEN status = 200 THEN 'price_01a1ddc4d136a29b72b2be' END,
      CASE WHEN status = 200 THEN 20 + luck END, CASE WHEN status = 200 THEN 200 + luck END,
      CASE WHEN status = 200 THEN 0 END, CASE WHEN status = 200 THEN 0 END,
      CASE WHEN status = 200 THEN took / 3 END, took,
      ${detail}, ${tags}
    FROM b`
}

const entriesText = (fromSeq: number, toSeq: number): string => `
  INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, model, unit, quantity, price_id,
    estimated, note, token_id, tier, tags)
  SELECT at_ms + total_ms, account_id, 'charge', -charge_nanos, request_id, model, 'token',
    input_tokens + output_tokens, price_id, 0, NULL, token_id, NULL, tags
  FROM requests WHERE seq >= ${fromSeq} AND seq <= ${toSeq} AND status = 200 ORDER BY seq`

function tasksText(dialect: Dialect, { tasks, days, untilMs }: Filling, from: number, to: number) {
  const spanMs = days * dayMs
  const body = JSON.stringify({
    upstreamModel: 'bench-video',
    keyFingerprint: '',
    request: { prompt: 'a cat on a mat '.repeat(20), seconds: 5, resolution: '720p', media: [] },
    media: [
      { kind: 'video', url: 'https://videos.example/some/where/video.mp4?signed=0123456789' },
    ],
    usage: { outputSeconds: 5 },
    misses: 0,
  })
  return `
    INSERT INTO tasks (id, account_id, token_id, request_id, interface, model, protocol, channel_id,
      channel, upstream_id, state, progress, hold_nanos, charge_nanos, price_id, created_at_ms,
      updated_at_ms, started_at_ms, finished_at_ms, next_check_at_ms, checks, lease_owner,
      lease_until_ms, fence, hidden, body, tags)
    ${numbers(dialect, from, to)}
    , a AS (SELECT i, ${whole(`${untilMs - spanMs} + i * ${spanMs / tasks}`)} AS began,
      ${someAccount} AS acc, ${pseudoRandom(2, 5)} AS mod, ${pseudoRandom(4, 1000)} AS luck FROM n)
    SELECT 'video_' || ${hex(dialect, 'began', 12)} || ${hex(dialect, 'i', 20)},
      'acc_' || ${hex(dialect, 'acc', 22)},
      'tok_' || ${hex(dialect, `acc * ${tokensEach}`, 22)},
      'req_' || ${hex(dialect, 'began', 12)} || ${hex(dialect, 'i', 20)}, 'videos',
      'video-' || mod, 'vf', 'video-channel-' || (mod / 2), 'video-channel-' || (mod / 2),
      'up-' || i, CASE WHEN luck < 900 THEN 'succeeded' WHEN luck < 990 THEN 'failed'
        WHEN luck < 999 THEN 'cancelled' ELSE 'unknown' END, 100, 5000000, 5000000, 'price_video',
      began, began + 60000, began + 1000, began + 60000, 4102444800000, 4, NULL, 0, 1, 0,
      '${body}', ${tags} FROM a`
}

export async function fill(store: Store, filling: Filling, note: (text: string) => void) {
  const { dialect } = store
  if (dialect === 'postgres') {
    const { days, untilMs } = filling
    await makeWeeks(store, untilMs - (days + 1) * dayMs, untilMs + 14 * dayMs)
  }
  await fillCatalog(store, filling)
  const run = (text: string) => store.tx((tx) => sql.raw(text).execute(tx))
  for (let from = 1; from <= filling.rows; from += rowsAtOnce) {
    const to = Math.min(filling.rows, from + rowsAtOnce - 1)
    await run(requestsText(dialect, filling, from, to))
    if (from > filling.rows - filling.entries) await run(entriesText(from, to))
    if (to % 1_000_000 === 0) note(`pages: ${to} rows`)
  }
  for (let from = 1; from <= filling.tasks; from += rowsAtOnce) {
    await run(tasksText(dialect, filling, from, Math.min(filling.tasks, from + rowsAtOnce - 1)))
  }
}

async function fillCatalog({ dialect, tx }: Store, { untilMs }: Filling): Promise<void> {
  const columns = 'id, account_id, name, hash, prefix, models, limits, allowed_ips, disabled'
  const account = (name: RawBuilder<unknown>, id: RawBuilder<unknown>, last: number) => sql`
    INSERT INTO accounts (id, name, balance_nanos, held_nanos, source, created_at_ms)
    ${sql.raw(numbers(dialect, 0, last))} SELECT ${id}, ${name}, 0, 0, 'api', ${untilMs} FROM n`
  const acc = sql.raw(`'acc_' || ${hex(dialect, 'i', 22)}`)
  await tx(async (db) => {
    await account(sql.raw(`'customer-' || i`), acc, accounts - 1).execute(db)
    await account(sql.lit('rare'), sql.lit(names.rareAccount), 0).execute(db)
    const token = `'tok_' || ${hex(dialect, 'i', 22)}`
    const owner = `'acc_' || ${hex(dialect, `i / ${tokensEach}`, 22)}`
    await sql
      .raw(
        `INSERT INTO tokens (${columns}, source, created_at_ms)
         ${numbers(dialect, 0, accounts * tokensEach - 1)}
         SELECT ${token}, ${owner}, 'token-' || i, 'hash-' || i, 'sk-bench', '["*"]', '{}', '[]', 0,
           'api', ${untilMs} FROM n`,
      )
      .execute(db)
  })
}

/** All finished segments, as a gateway that has been running would have them. */
export async function indexAll(store: Store, note: (text: string) => void): Promise<number> {
  let segments = 0
  while (await indexNextSegment(store, Number.MAX_SAFE_INTEGER - 1)) {
    if (++segments % 500 === 0) note(`pages: ${segments} segments indexed`)
  }
  return segments
}
