// Receipts that are made with a batch: the same as those that the pass makes later of what it reads.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Entry, entryKinds } from '../../../contract/ledger.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import { openStore } from '../../index.ts'
import { lcg } from '../../test-stores.ts'
import { cellsOf } from '../group-commit.ts'
import { entryRow, requestRow } from '../group-commit-rows.ts'
import { BatchWriter } from './batch-writer.ts'
import { SqliteReceiptWriter } from './receipt-writer.ts'

const hourMs = 3_600_000
const nowMs = 1_700_000_000_000
const accounts = ['acc_1', 'acc_2', 'acc_3']
let dir: string
let copies = 0

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gateway-receipts-'))
  await (await openStore({ dataDir: dir })).close()
  const db = new Database(join(dir, 'gateway.db'))
  db.run("INSERT INTO meta VALUES ('currency', 'CNY')")
  for (const id of accounts) {
    db.run(
      `INSERT INTO accounts (id, name, balance_nanos, held_nanos, source, created_at_ms, closed_until_ms)
       VALUES (?, ?, 0, 0, 'admin', 0, ?)`,
      [id, id, id === 'acc_3' ? nowMs + hourMs : 0],
    )
  }
  db.close()
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

interface Opened {
  db: Database
  receipts: SqliteReceiptWriter
  records: BatchWriter
}

/** A database of its own. */
function open(makesReceipts: boolean): Opened {
  const file = join(dir, `copy-${copies++}.db`)
  copyFileSync(join(dir, 'gateway.db'), file)
  const db = new Database(file, { safeIntegers: true })
  const receipts = new SqliteReceiptWriter(db)
  const none = { catchUp: () => false, bookBatch() {} } as unknown as SqliteReceiptWriter
  return { db, receipts, records: new BatchWriter(db, makesReceipts ? receipts : none) }
}

function close({ db, receipts, records }: Opened): void {
  records.close()
  receipts.close()
  db.close()
}

type Written = [RequestRecord, Entry | undefined]

const write = ({ records }: Opened, batches: readonly Written[][]) =>
  records.write(
    batches.map((batch) => ({
      requests: cellsOf(batch.map(([request]) => requestRow(request)).join('')),
      entries: cellsOf(batch.map(([, entry]) => (entry ? entryRow(entry) : '')).join('')),
      losses: [],
    })),
  )

const proof = ({ db }: Opened) =>
  ['receipts', 'hourly_totals', 'daily_totals', 'tag_totals', 'meta'].map((table) => {
    const rows = db
      .query(`SELECT * FROM ${table}`)
      .all()
      .map((row) => Object.values(row as object))
    return [table, ...rows.map((row) => row.join('|')).sort()]
  })

const countOf = ({ db }: Opened, table: string) =>
  Number((db.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: bigint }).n)

function bookAll({ receipts }: Opened): string[] {
  const moved = new Set<string>()
  for (;;) {
    const booked = receipts.book(3)
    for (const account of booked.accounts) moved.add(account)
    if (booked.pass === undefined) return [...moved].sort()
  }
}

const texts = ['', 'm', 'ж \u{1f600}', "quote's", 'a\nb', '0012', 'null', 'x'.repeat(300)]

function randomCall(random: (below: number) => number, n: number): Written {
  // Some requests are there already and say something else; some charges are of earlier ones.
  const earlier = Math.max(0, n - 40)
  const requestId = `req_${random(30) === 0 ? earlier : n}`
  const charged = random(30) === 0 ? `req_${earlier}` : requestId
  const accountId = accounts[random(3)]!
  const text = () => texts[random(texts.length)]!
  const maybe = <T>(value: T): T | undefined => (random(3) === 0 ? undefined : value)
  const atMs = nowMs + random(5) * hourMs
  const tokens = { inputTokens: random(5_000), outputTokens: random(9), cacheReadTokens: random(3) }
  const usage = maybe({ ...tokens, cacheWriteTokens: random(2) })
  const request = {
    ...{
      requestId,
      atMs,
      accountId,
      tokenId: `tok_${random(3)}`,
      interface: 'chat',
      model: text(),
    },
    ...{ status: 200, chargeNanos: 1n, totalMs: 7, ...(usage !== undefined && { usage }) },
    detail: { stream: false, ending: 'complete', attempts: [] },
  } as RequestRecord
  const kind = entryKinds[random(entryKinds.length)]!
  const sign = kind === 'charge' || kind === 'hold' ? -1n : 1n
  const entry = {
    ...{ atMs, accountId, kind, amountNanos: sign * (2n ** 53n + BigInt(random(9))) },
    ...{ ref: kind === 'charge' ? charged : `other_${n}`, model: maybe(text()) },
    ...{ unit: maybe('token'), quantity: maybe(random(90) / 8), priceId: maybe(text()) },
    ...{ estimated: random(2) === 1, note: maybe(text()), tokenId: maybe('tok_9') },
    ...{ tier: maybe(text()), servedModel: maybe(text()) },
    tags: maybe(`team=t${random(4)}`),
  }
  const known = Object.entries(entry).filter(([, value]) => value !== undefined)
  return [request, random(8) === 0 ? undefined : (Object.fromEntries(known) as unknown as Entry)]
}

const addCredit = ({ db }: Opened, n: number) =>
  db.run(
    `INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, estimated)
     VALUES (${nowMs}, 'acc_2', 'credit', 5, 'credit_${n}', 0)`,
  )

describe('receipts made with their batch', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('are those of the pass, seed %i', (seed) => {
    const [direct, later] = [open(true), open(false)]
    const random = lcg(seed)
    let n = 0
    const moved = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const batches = Array.from({ length: 1 + random(3) }, () =>
        Array.from({ length: random(25) }, () => randomCall(random, n++)),
      )
      for (const each of [direct, later]) {
        write(each, batches)
        // Entries of another transaction, and a batch that is there already.
        if (round % 3 === 0) addCredit(each, round)
        if (round % 4 === 0) write(each, batches)
      }
      if (round % 5 === 0) for (const account of bookAll(direct)) moved.add(account)
    }
    expect(countOf(direct, 'receipts')).toBeGreaterThan(countOf(later, 'receipts'))
    const accounts = bookAll(later)
    for (const account of bookAll(direct)) moved.add(account)
    expect(proof(direct)).toEqual(proof(later))
    expect([...moved].sort()).toEqual(accounts)
    for (const each of [direct, later]) close(each)
  })

  const charged = (n: number): Written => {
    const [request] = randomCall(lcg(n), n)
    const { requestId: ref, accountId } = request
    const charge = { kind: 'charge' as const, amountNanos: -1n, atMs: nowMs }
    return [request, { ...charge, accountId, ref }]
  }

  test('read nothing back: a batch of charges has all its receipts at once', () => {
    const opened = open(true)
    write(opened, [[charged(1), charged(2)], [charged(3)]])
    expect(countOf(opened, 'receipts')).toBe(3)
    expect(opened.receipts.book(10)).toMatchObject({ entries: 0 })
    close(opened)
  })

  test('are left to the pass after one that failed, and no record is lost', () => {
    const opened = open(true)
    const [request, entry] = charged(1)
    opened.db.run(`INSERT INTO receipts VALUES (1, ?, 7, 0, ''), (99, ?, 8, 0, '')`, [
      request.accountId,
      'acc_9',
    ])
    write(opened, [[[request, entry]]])
    expect([countOf(opened, 'requests'), countOf(opened, 'entries')]).toEqual([1, 1])
    expect(() => opened.receipts.book(10)).toThrow('UNIQUE')
    close(opened)
  })

  test('are left to the pass while the database has no currency', () => {
    const opened = open(true)
    opened.db.run("DELETE FROM meta WHERE key = 'currency'")
    write(opened, [[charged(1)]])
    expect(countOf(opened, 'receipts')).toBe(0)
    close(opened)
  })

  test('are left to the pass when too many have none', () => {
    const opened = open(true)
    for (let i = 0; i < 3000; i++) addCredit(opened, i)
    write(opened, [[charged(1)]])
    expect(countOf(opened, 'receipts')).toBe(0)
    bookAll(opened)
    write(opened, [[charged(2)]])
    expect(countOf(opened, 'receipts')).toBe(3002)
    close(opened)
  })
})
