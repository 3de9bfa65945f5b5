// What the journal keeps: every batch that was appended, through any torn write, and none that was not.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { insertAccount } from '../../../catalog/accounts.ts'
import { openStore } from '../../../index.ts'
import { callColumns, cellsOfCall } from '../../../rows/call-row.ts'
import { aRequest, charged } from '../../../test-stores.ts'
import { cellsOf, lossColumns, rowOf } from '../../group-commit-rows.ts'
import { BatchEncoder, batchesIn, type JournalBatch, type ReadTexts } from './batch-format.ts'
import { type Columns, JournalFiles, journalNames, readJournal } from './journal-files.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-journal-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const columns: Columns = { requests: ['a', 'b'], entries: ['c'], losses: [] }
const batch = (number: number, text = `row ${number}`): JournalBatch & ReadTexts => ({
  number,
  requests: text,
  entries: 'é€😀',
  losses: '',
})

describe('the bytes of batches', () => {
  const salt = 77n
  const text = fc.string({ unit: 'grapheme', maxLength: 40 })
  const texts = fc.record({ requests: text, entries: text, losses: text })
  const encoded = (batches: readonly JournalBatch[], by = salt) =>
    batches.map((each) => Buffer.from(new BatchEncoder(by).encode(each)))

  test('give back what was written, up to the first that is torn or changed', () => {
    fc.assert(
      fc.property(
        fc.array(texts, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.boolean(),
        (rows, at, isCut) => {
          const batches = rows.map((row, i) => ({ ...row, number: i + 1 }))
          const parts = encoded(batches)
          const bytes = Buffer.concat(parts)
          expect([...batchesIn(bytes, salt)]).toEqual(batches)
          const place = at % bytes.length
          let [first, end] = [0, 0]
          while (end + parts[first]!.length <= place) end += parts[first++]!.length
          if (!isCut) bytes[place]! ^= 1
          const read = [...batchesIn(isCut ? bytes.subarray(0, place) : bytes, salt)]
          expect(read).toEqual(batches.slice(0, first))
        },
      ),
    )
  })

  test('of an earlier turn or of another journal are not read', () => {
    expect([...batchesIn(Buffer.concat(encoded([batch(9), batch(4)])), salt)]).toEqual([batch(9)])
    expect([...batchesIn(Buffer.concat(encoded([batch(1)], 78n)), salt)]).toEqual([])
  })
})

describe('the files', () => {
  const unread = (applied: number) =>
    written()
      .flatMap(({ batches }) => batches.map(({ number }) => number))
      .filter((number) => number > applied)
      .sort((a, b) => a - b)
  const written = () => [...readJournal(dataDir)].filter((each) => typeof each === 'object')
  const large = 'x'.repeat(1024 * 1024)

  test('hold every batch that the database does not have, however often they took turns', async () => {
    const files = new JournalFiles(dataDir, 'db', columns)
    let applied = 0
    for (let number = 1; number <= 40; number++) {
      await files.append(batch(number, large), applied)
      if (number % 7 === 0) applied = number - 3
      const expected = Array.from({ length: number - applied }, (_, i) => applied + i + 1)
      expect(unread(applied)).toEqual(expected)
    }
    files.close()
    const bytes = journalNames.map((name) => statSync(join(dataDir, name)).size)
    expect(Math.max(...bytes)).toBeLessThan(14 * large.length)
  })

  test('say which database and columns they are for, and begin empty', async () => {
    const files = new JournalFiles(dataDir, 'db', columns)
    await files.append(batch(1), 0)
    files.close()
    const [a, b] = [...readJournal(dataDir)]
    expect(a).toMatchObject({ databaseId: 'db', columns, batches: [batch(1)] })
    expect(b).toMatchObject({ batches: [] })
    new JournalFiles(dataDir, 'db', columns).close()
    expect(written().flatMap(({ batches }) => batches)).toEqual([])
  })
})

describe('a store', () => {
  const open = () => openStore({ dataDir })
  const journalOf = () => readFileSync(join(dataDir, journalNames[0]))
  const ids = async (store: Awaited<ReturnType<typeof open>>) =>
    (await store.read.selectFrom('requests').select('request_id').execute()).map(
      ({ request_id }) => request_id,
    )

  /** A store with one account, closed again, and the journal of one record that it had. */
  async function withRecord(): Promise<{ id: string; journal: Buffer }> {
    const store = await open()
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'one', source: 'api', createdAtMs: 1 }),
    )
    const request = aRequest({ accountId: 'acc_1' })
    await store.record(charged(request, 5n))
    const journal = journalOf()
    await store.close()
    return { id: request.requestId, journal }
  }

  const forget = (id: string) => {
    const db = new Database(join(dataDir, 'gateway.db'))
    for (const table of ['requests', 'entries']) {
      for (const { name } of db
        .query(`SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '${table}'`)
        .all() as { name: string }[])
        db.run(`DROP TRIGGER ${name}`)
    }
    db.run('DELETE FROM requests WHERE request_id = ?', [id])
    db.run('UPDATE accounts SET last_number = 0, balance_nanos = 0, last_balance_nanos = 0')
    db.run("UPDATE meta SET value = '0' WHERE key = 'journal_applied'")
    db.close()
  }

  test('applies what only its journal has, once', async () => {
    const { id, journal } = await withRecord()
    writeFileSync(join(dataDir, journalNames[0]), journal)
    const same = await open()
    expect(await ids(same)).toEqual([id])
    await same.close()
    forget(id)
    writeFileSync(join(dataDir, journalNames[0]), journal)
    const again = await open()
    expect(await ids(again)).toEqual([id])
    const [entry] = await again.read.selectFrom('ledger').selectAll().execute()
    expect(entry).toMatchObject({ ref: id, amount_nanos: -5n })
    await again.close()
  })

  test('reads the journal of a version with other columns by their names', async () => {
    const { id, journal } = await withRecord()
    forget(id)
    const line = JSON.parse(journal.toString('utf8', 0, 4096))
    line.columns.requests[line.columns.requests.indexOf('channel')] = 'an_old_name'
    journal.write(`${JSON.stringify(line).padEnd(4095)}\n`)
    writeFileSync(join(dataDir, journalNames[0]), journal)
    const store = await open()
    const [row] = await store.read.selectFrom('requests').selectAll().execute()
    expect(row).toMatchObject({ request_id: id, account_id: 'acc_1', channel: null })
    await store.close()
  })

  test('reads a journal of version 0.3, which had the charges of calls apart', async () => {
    const { id } = await withRecord()
    forget(id)
    const known = new Database(join(dataDir, 'gateway.db'))
      .query("SELECT value FROM meta WHERE key = 'journal_id'")
      .get() as { value: string }
    const names = callColumns.slice(0, callColumns.indexOf('booked_at_ms'))
    const entry = ['at_ms', 'account_id', 'kind', 'amount_nanos', 'ref', 'unit', 'quantity']
    const more = [...entry, 'estimated', 'tier']
    const columns = { requests: names, entries: more, losses: lossColumns }
    const files = new JournalFiles(dataDir, known.value, columns)
    const call = aRequest({ requestId: id, accountId: 'acc_1', chargeNanos: 7n })
    const requests = rowOf(cellsOf(cellsOfCall(call)).slice(0, names.length))
    const charge = ['77', 'acc_1', 'charge', '-7', id, 'token', '2.5', '1', '']
    await files.append({ number: 1, requests, losses: '', entries: rowOf(charge) } as never, 0)
    files.close()
    const store = await open()
    const [row] = await store.read.selectFrom('ledger').selectAll().execute()
    expect(row).toMatchObject({
      ref: id,
      at_ms: 77,
      amount_nanos: -7n,
      quantity: 2.5,
      estimated: 1,
    })
    expect(row).toMatchObject({ number: 1, balance_nanos: -7n, tier: null, model: 'txta-plus' })
    await store.close()
  })

  test('leaves the journal of another database alone', async () => {
    const { journal } = await withRecord()
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name))
    writeFileSync(join(dataDir, journalNames[0]), journal)
    const store = await open()
    expect(await ids(store)).toEqual([])
    await store.close()
    const kept = readdirSync(dataDir).filter((name) => name.startsWith(`${journalNames[0]}.`))
    expect(readFileSync(join(dataDir, kept[0]!)).equals(journal)).toBe(true)
  })

  test('sets a record aside that its database refuses, and stores the others', async () => {
    const store = await open()
    const full = -(2n ** 63n - 1n)
    await store.tx(async (tx) => {
      for (const id of ['acc_1', 'acc_2']) {
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
      }
      await tx
        .updateTable('accounts')
        .set({ balance_nanos: full })
        .where('id', '=', 'acc_2')
        .execute()
    })
    const [good, bad] = ['acc_1', 'acc_2'].map((accountId) => aRequest({ accountId }))
    await Promise.all([good!, bad!].map((each) => store.record(charged(each, 5n))))
    expect(await ids(store)).toEqual([good!.requestId])
    const kept = await store.read
      .selectFrom('meta')
      .selectAll()
      .where('key', 'like', 'journal_refused_%')
      .execute()
    expect(kept.map(({ key }) => key)).toEqual([`journal_refused_${bad!.requestId}`])
    expect(kept[0]!.value).toContain(bad!.requestId)
    await store.record(aRequest({ accountId: 'acc_1' }))
    expect(await ids(store)).toHaveLength(2)
    await store.close()
  })
})
