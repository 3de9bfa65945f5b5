// The hot statements: what the cells of a batch become in the tables.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Entry } from '../../../contract/ledger.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import { openStore } from '../../index.ts'
import { cellsOf } from '../group-commit.ts'
import { entryRow, requestRow } from '../group-commit-rows.ts'
import { BatchWriter } from './batch-writer.ts'
import { SqliteReceiptWriter } from './receipt-writer.ts'

let dataDir: string
let db: Database
let writer: BatchWriter

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-batch-'))
  await (await openStore({ dataDir })).close()
  db = new Database(join(dataDir, 'gateway.db'), { safeIntegers: true })
  db.run(`INSERT INTO accounts (id, name, balance_nanos, held_nanos, source, created_at_ms)
          VALUES ('acc_1', 'one', 0, 0, 'admin', 0)`)
  writer = new BatchWriter(db, new SqliteReceiptWriter(db))
})

afterEach(() => {
  writer.close()
  db.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Above the whole numbers that a double can hold. */
const large = 9_007_199_254_740_993n

const request = (id: string, more: Partial<RequestRecord> = {}): RequestRecord => ({
  requestId: id,
  atMs: 1_700_000_000_123,
  accountId: 'acc_1',
  tokenId: 'tok_1',
  interface: 'chat',
  model: 'm',
  status: 200,
  chargeNanos: large,
  totalMs: 7,
  detail: { stream: false, ending: 'complete', attempts: [] },
  ...more,
})

const charge = (ref: string, amountNanos: bigint, more: Partial<Entry> = {}): Entry => ({
  atMs: 1_700_000_000_130,
  accountId: 'acc_1',
  kind: 'charge',
  amountNanos,
  ref,
  ...more,
})

const write = (requests: RequestRecord[], entries: Entry[]) =>
  writer.write([
    {
      requests: cellsOf(requests.map(requestRow).join('')),
      entries: cellsOf(entries.map(entryRow).join('')),
      losses: [],
    },
  ])

const rowOf = (table: string) => db.query(`SELECT * FROM ${table}`).get() as object

const balance = () =>
  (db.query('SELECT balance_nanos AS nanos FROM accounts').get() as { nanos: bigint }).nanos

test('what a record does not have is null in its row', () => {
  write([request('req_1')], [charge('req_1', -1n)])
  expect(rowOf('requests')).toMatchObject({
    channel: null,
    upstream_request_id: null,
    error_code: null,
    price_id: null,
    input_tokens: null,
    cache_write_tokens: null,
    first_byte_ms: null,
  })
  const none = { model: null, unit: null, quantity: null, note: null, token_id: null, tier: null }
  expect(rowOf('entries')).toMatchObject(none)
})

test('numbers and amounts of any size are stored exactly', () => {
  const usage = { inputTokens: 0, outputTokens: 5, cacheReadTokens: 2 ** 40, cacheWriteTokens: 1 }
  write(
    [request('req_1', { usage, firstByteMs: 0 })],
    [charge('req_1', -large, { quantity: 2.5, estimated: true })],
  )
  expect(rowOf('requests')).toMatchObject({
    at_ms: 1_700_000_000_123n,
    status: 200n,
    charge_nanos: large,
    input_tokens: 0n,
    output_tokens: 5n,
    cache_read_tokens: 2n ** 40n,
    first_byte_ms: 0n,
    total_ms: 7n,
  })
  const stored = { at_ms: 1_700_000_000_130n, amount_nanos: -large, quantity: 2.5, estimated: 1n }
  expect(rowOf('entries')).toMatchObject(stored)
  expect(balance()).toBe(-large)
})

test('a count that is no number fails its batch, which leaves nothing', () => {
  const usage = {
    inputTokens: Number.NaN,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  expect(() =>
    write([request('req_1'), request('req_2', { usage })], [charge('req_1', -5n)]),
  ).toThrow('input_tokens')
  expect(rowOf('requests')).toBeNull()
  expect(balance()).toBe(0n)
})

test('an entry that exists changes no balance; the others of its batch do', () => {
  write([request('req_1')], [charge('req_1', -5n)])
  write([request('req_1'), request('req_2')], [charge('req_1', -5n), charge('req_2', -7n)])
  expect(balance()).toBe(-12n)
})

test('an entry of a closed month is booked after it', () => {
  db.run('UPDATE accounts SET closed_until_ms = 1800000000000')
  write([request('req_1')], [charge('req_1', -5n)])
  expect(rowOf('entries')).toMatchObject({ at_ms: 1_800_000_000_000n })
})
