// Fills a database with requests, tasks and their charges, as if a gateway had been busy for a month:
// `bun bench/console/fill.ts DATA_DIR REQUESTS`, with a task for every ten requests. The gateway must
// have been started once, for accounts and tokens. The database makes the rows itself.

import { sql } from 'kysely'
import { listAccounts } from '../../src/store/catalog/accounts.ts'
import { listTokens } from '../../src/store/catalog/tokens.ts'
import { openStore, type Store, type Tx } from '../../src/store/index.ts'
import { unfinishedKey } from '../../src/store/migrations/finish-receipts.ts'
import { setMeta } from '../../src/store/sql/meta.ts'

export const requestsPerTask = 10
const rowsPerStep = 50_000
const monthMs = 30 * 24 * 3_600_000
const models = [
  'txta-plus',
  'txta-max',
  'txtb-plus',
  'txtc-1',
  'emb-1',
  'img-1',
  'txtd-2',
  'rare-1',
]
/** One row in this many is of the last model. */
const rareEvery = 100_000

interface Step {
  from: number
  to: number
  total: number
  endMs: number
  /** `(0, 'account', 'token'), …` */
  owners: string
  ownerCount: number
}

async function fillRows(dataDir: string, requests: number): Promise<void> {
  const store = await openStore({ dataDir })
  const owners = await ownersIn(store)
  const endMs = Date.now() - 60_000
  const kinds = [
    { total: requests, work: addRequests },
    { total: Math.floor(requests / requestsPerTask), work: addTasks },
  ]
  for (const { total, work } of kinds) {
    for (let from = 0; from < total; from += rowsPerStep) {
      const to = Math.min(total, from + rowsPerStep)
      await store.tx((tx) => work(tx, { from, to, total, endMs, ...owners }))
    }
  }
  await store.tx(balance)
  await store.close()
}

async function ownersIn({ read }: Store) {
  const accounts = (await listAccounts(read, { limit: 500 })).items
  const tokens = (await listTokens(read, { limit: 500 })).items
  const pairs = accounts.flatMap(({ id }) => {
    const token = tokens.find(({ accountId }) => accountId === id)
    return token === undefined ? [] : [`'${id}', '${token.id}'`]
  })
  const owners = pairs.map((pair, i) => `(${i}, ${pair})`).join(', ')
  return { owners, ownerCount: pairs.length }
}

/** Numbers of rows, each with its moment and its owner. */
const numbered = ({ from, to, total, endMs, owners, ownerCount }: Step) => `
  WITH RECURSIVE
    owners(k, account_id, token_id) AS (VALUES ${owners}),
    numbers(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ${to}),
    rows AS (
      SELECT i, account_id, token_id,
        ${endMs} - CAST((${total} - i) * (${monthMs}.0 / ${total}) AS INTEGER) AS at_ms
      FROM numbers JOIN owners ON k = (i / 7) % ${ownerCount}
    )`

const pick = (words: readonly string[], by: string) =>
  `CASE (${by}) % ${words.length} ${words.map((word, k) => `WHEN ${k} THEN '${word}'`).join(' ')} END`

async function addRequests(tx: Tx, step: Step): Promise<void> {
  const modelOf = `CASE WHEN i % ${rareEvery} = 7 THEN '${models.at(-1)}' ELSE ${pick(models.slice(0, -1), 'i / 3')} END`
  const id = `printf('req_%012x%020x', at_ms, i)`
  const price = `'price_' || (i % 8)`
  await sql
    .raw(
      `INSERT INTO requests (request_id, at_ms, account_id, token_id, interface, model, channel,
         upstream_request_id, status, error_code, charge_nanos, price_id, input_tokens,
         output_tokens, cache_read_tokens, cache_write_tokens, first_byte_ms, total_ms, detail)
       ${numbered(step)}
       SELECT ${id}, at_ms, account_id, token_id, 'chat', ${modelOf}, 'sandbox',
         printf('chatcmpl-%020x', i * 7919),
         CASE WHEN i % 97 = 0 THEN 400 WHEN i % 211 = 0 THEN 502 ELSE 200 END,
         CASE WHEN i % 97 = 0 THEN 'invalid_request' WHEN i % 211 = 0 THEN 'upstream_error' END,
         1000 * (i % 900), ${price}, 100 + i % 4000, i % 900, 0, 0, 80 + i % 300, 400 + i % 5000,
         '{"stream":true,"ending":"complete","attempts":[{"channel":"sandbox","afterMs":1,"ms":' ||
           (400 + i % 5000) || ',"status":200}],"reported":{"prompt_tokens":' || (100 + i % 4000) ||
           ',"completion_tokens":' || (i % 900) || '}}'
       FROM rows ORDER BY i`,
    )
    .execute(tx)
  await sql
    .raw(
      `INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, model, unit, quantity,
         price_id, estimated, token_id)
       ${numbered(step)}
       SELECT at_ms, account_id, 'charge', -1000 * (i % 900), ${id}, ${modelOf}, 'token',
         100 + i % 4000 + i % 900, ${price}, 0, token_id
       FROM rows WHERE i % 97 > 0 AND i % 211 > 0 ORDER BY i`,
    )
    .execute(tx)
}

/** Fifty are running; the gateway does not poll them for a day. */
async function addTasks(tx: Tx, step: Step): Promise<void> {
  const { total, endMs } = step
  const id = `printf('video_%012x%020x', at_ms, i)`
  const state = `CASE WHEN i >= ${total - 50} THEN 'running' WHEN i % 50 = 3 THEN 'failed'
    WHEN i % 100 = 5 THEN 'cancelled' ELSE 'succeeded' END`
  const body = `'{"upstreamModel":"vfa-2.7-t2v","keyFingerprint":"","request":{"prompt":"video ' || i ||
    ': a lighthouse in a storm, waves against the rocks","seconds":5,"resolution":"720p",' ||
    '"media":[]},"media":[{"kind":"video","url":"https://up.example/' || i ||
    '.mp4","expiresAtMs":' || (at_ms + 60000) || '}],"usage":{"outputSeconds":5},"misses":0}'`
  await sql
    .raw(
      `INSERT INTO tasks (id, account_id, token_id, request_id, interface, model, protocol,
         channel_id, channel, upstream_id, state, progress, hold_nanos, charge_nanos, price_id,
         created_at_ms, updated_at_ms, started_at_ms, finished_at_ms, next_check_at_ms, checks,
         lease_owner, lease_until_ms, fence, hidden, body)
       ${numbered(step)}
       SELECT ${id}, account_id, token_id, printf('req_%032x', i), 'videos', 'vfa-2.7-t2v', 'vf',
         'sandbox', 'sandbox', 'up-' || i, ${state}, 50, 3000000000, 3000000000, 'price_video',
         at_ms, at_ms + 45000, at_ms + 2000,
         CASE WHEN i >= ${total - 50} THEN NULL ELSE at_ms + 45000 END,
         ${endMs + 24 * 3_600_000}, 6, NULL, 0, 1, 0, ${body}
       FROM rows ORDER BY i`,
    )
    .execute(tx)
  await sql
    .raw(
      `INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, model, unit, quantity,
         price_id, estimated, token_id, tier)
       ${numbered(step)}
       SELECT at_ms + 45000, account_id, 'charge', -3000000000, ${id}, 'vfa-2.7-t2v',
         'video_second', 5, 'price_video', 0, token_id, '720p'
       FROM rows WHERE ${state} = 'succeeded' ORDER BY i`,
    )
    .execute(tx)
}

/** What the entries add up to. */
async function balance(tx: Tx): Promise<void> {
  await sql
    .raw(
      `UPDATE accounts SET balance_nanos = coalesce((SELECT sum(amount_nanos) FROM entries
         WHERE account_id = accounts.id AND kind NOT IN ('hold', 'release')), 0)`,
    )
    .execute(tx)
  // The next start writes their receipts.
  await setMeta(tx, unfinishedKey, '0')
}

if (import.meta.main) {
  const [dataDir = '', requests = ''] = process.argv.slice(2)
  await fillRows(dataDir, Number(requests))
  console.log(JSON.stringify({ filled: Number(requests) }))
}
