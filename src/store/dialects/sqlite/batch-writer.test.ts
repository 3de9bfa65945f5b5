// The hot statements: what the cells of a batch become in the tables.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallCharge, RequestRecord } from '../../../contract/requests.ts'
import { openStore } from '../../index.ts'
import { cellsOfCall } from '../../rows/call-row.ts'
import { cellsOf } from '../group-commit-rows.ts'
import { BatchWriter } from './batch-writer.ts'

let dataDir: string
let db: Database
let writer: BatchWriter

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-batch-'))
  await (await openStore({ dataDir })).close()
  db = new Database(join(dataDir, 'gateway.db'), { safeIntegers: true })
  db.run(`INSERT INTO accounts (id, name, balance_nanos, held_nanos, source, created_at_ms)
          VALUES ('acc_1', 'one', 0, 0, 'admin', 0)`)
  writer = new BatchWriter(db)
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

const charged = (id: string, nanos: bigint, charge: CallCharge = {}, more = {}): RequestRecord =>
  request(id, { chargeNanos: nanos, charge, ...more })

const write = (...calls: RequestRecord[]) =>
  writer.write([{ requests: cellsOf(calls.map(cellsOfCall).join('')), losses: [] }])

const rowOf = (table: string) => db.query(`SELECT * FROM ${table}`).get() as object

const balance = () =>
  (db.query('SELECT balance_nanos AS nanos FROM accounts').get() as { nanos: bigint }).nanos

test('what a record does not have is null in its row', () => {
  write(charged('req_1', 1n))
  expect(rowOf('requests')).toMatchObject({
    channel: null,
    upstream_request_id: null,
    error_code: null,
    price_id: null,
    input_tokens: null,
    cache_write_tokens: null,
    first_byte_ms: null,
    unit: null,
    quantity: null,
    tier: null,
    served_model: null,
    number: 1n,
  })
  expect(rowOf('ledger')).toMatchObject({ note: null, unit: null, quantity: null, tier: null })
})

test('a call that is not charged is no entry', () => {
  write(request('req_1'))
  const none = {
    booked_at_ms: null,
    estimated: null,
    number: null,
    balance_nanos: null,
    hash: null,
  }
  expect(rowOf('requests')).toMatchObject(none)
  expect(rowOf('ledger')).toBeNull()
})

test('numbers and amounts of any size are stored exactly', () => {
  const usage = { inputTokens: 0, outputTokens: 5, cacheReadTokens: 2 ** 40, cacheWriteTokens: 1 }
  write(charged('req_1', large, { quantity: 2.5, estimated: true }, { usage, firstByteMs: 0 }))
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
  expect(rowOf('ledger')).toMatchObject(stored)
  expect(balance()).toBe(-large)
})

test('a count that is no number fails its batch, which leaves nothing', () => {
  const usage = {
    inputTokens: Number.NaN,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  expect(() => write(charged('req_1', 5n), request('req_2', { usage }))).toThrow('input_tokens')
  expect(rowOf('requests')).toBeNull()
  expect(balance()).toBe(0n)
})

test('a call that exists changes no balance and no chain; the others of its batch do', () => {
  write(charged('req_1', 5n))
  write(charged('req_1', 5n), charged('req_2', 7n))
  expect(balance()).toBe(-12n)
  expect(db.query('SELECT number, balance_nanos FROM ledger ORDER BY id').values()).toEqual([
    [1n, -5n],
    [2n, -12n],
  ])
})

test('a call that is charged in a closed month is booked after it', () => {
  db.run('UPDATE accounts SET closed_until_ms = 1800000000000')
  write(charged('req_1', 5n))
  expect(rowOf('ledger')).toMatchObject({ at_ms: 1_800_000_000_000n })
})

test('ids of calls go on from those of entries', () => {
  db.run(`INSERT INTO entries (id, at_ms, account_id, kind, amount_nanos, ref, estimated)
          VALUES (41, 1, 'acc_1', 'hold', 0, 'task_1', 0)`)
  write(request('req_1'), charged('req_2', 5n))
  expect(db.query('SELECT seq FROM requests ORDER BY seq').values()).toEqual([[42n], [43n]])
})
