// The receipt pass of receipts.ts on SQLite: a chunk in one transaction, in the writer thread,
// because sending rows to another thread and back costs several times the work itself. Entries of a
// batch of records get their receipts in the transaction that writes them, where nothing has to be
// read back.
import type { Database, Statement } from 'bun:sqlite'
import { addToDays, dayColumns, gatherDays } from '../../proof/daily-totals.ts'
import { addToHours, gatherHours, hourColumns, valuesOf } from '../../proof/hour-shares.ts'
import { floorKey, isBooked, joinCharged } from '../../proof/hourly-totals.ts'
import type { PendingRow } from '../../proof/pending-row.ts'
import type { Booked } from '../../proof/receipt-pass.ts'
import { type ChainEnd, currencyKey, makeReceipts, pendingColumns } from '../../proof/receipts.ts'
import { addToTags, gatherTags, modelIn, tagColumns, tagValues } from '../../proof/tag-totals.ts'
import {
  addNameStatement,
  countNamesStatement,
  knownNameStatement,
  nameTotals,
  type TotalNames,
} from '../../proof/total-names.ts'
import type { Schema } from '../../schema.ts'
import { shapeIntegers } from '../integers.ts'

const endStatement = `
  SELECT number, balance_nanos, hash FROM receipts WHERE account_id = ?
  ORDER BY number DESC LIMIT 1`
const receiptColumns = ['entry_id', 'account_id', 'number', 'balance_nanos', 'hash'] as const
/** Receipts in one statement: running a statement costs as much as a row. */
const receiptsAtOnce = 16
/** So many entries without receipts are booked before those of a batch; more are left to the pass. */
const maxCatchUp = 2048
const hourStatement = addToHours.join(` VALUES (${hourColumns.map(() => '?').join(', ')}) `)
const dayStatement = addToDays.join(` VALUES (${dayColumns.map(() => '?').join(', ')}) `)
const tagStatement = addToTags.join(` VALUES (${tagColumns.map(() => '?').join(', ')}) `)

export class SqliteReceiptWriter {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #meta: Statement
  readonly #setMeta: Statement
  readonly #pending: Statement
  readonly #newest: Statement
  readonly #end: Statement
  readonly #savepoint: Statement
  readonly #release: Statement
  readonly #rollbackTo: Statement
  readonly #receipt: Statement
  readonly #receipts: Statement
  readonly #hour: Statement
  readonly #day: Statement
  readonly #tag: Statement
  readonly #nameKnown: Statement
  readonly #namesCount: Statement
  readonly #addName: Statement
  /** Accounts with receipts from batches that no pass has reported. */
  #moved = new Set<string>()

  /** The tables must exist. */
  constructor(db: Database) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#meta = db.prepare('SELECT value FROM meta WHERE key = ?')
    this.#setMeta = db.prepare(
      'INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    )
    this.#pending = db.prepare(
      `SELECT ${pendingColumns} FROM entries e ${joinCharged}
       WHERE ${isBooked} AND e.id > ? ORDER BY e.id LIMIT ?`,
    )
    this.#newest = db.prepare('SELECT max(id) AS id FROM entries')
    this.#end = db.prepare(endStatement)
    this.#savepoint = db.prepare('SAVEPOINT receipts')
    this.#release = db.prepare('RELEASE receipts')
    this.#rollbackTo = db.prepare('ROLLBACK TO receipts')
    this.#receipt = db.prepare(insertReceipts(1))
    this.#receipts = db.prepare(insertReceipts(receiptsAtOnce))
    this.#hour = db.prepare(hourStatement)
    this.#day = db.prepare(dayStatement)
    this.#tag = db.prepare(tagStatement)
    this.#nameKnown = db.prepare(knownNameStatement)
    this.#namesCount = db.prepare(countNamesStatement)
    this.#addName = db.prepare(addNameStatement)
  }

  book(limit: number): Booked {
    this.#begin.run()
    try {
      const booked = this.#chunk(limit)
      this.#commit.run()
      const accounts = this.#moved
      this.#moved = new Set()
      return { ...booked, accounts: [...accounts] }
    } catch (error) {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
      throw error
    }
  }

  /**
   * In a transaction that will add entries: whether these can get their receipts with `bookBatch`,
   * because all earlier ones have theirs. A database that no gateway has opened has no currency yet,
   * which is part of a receipt.
   */
  catchUp(): boolean {
    if (this.#metaOf(currencyKey) === undefined) return false
    const behind = this.#newestId() - this.#floor()
    if (behind <= 0) return true
    return behind <= maxCatchUp && this.#attempt(() => this.#chunk(behind + 1))
  }

  /** In the transaction that added these entries, which are all since `catchUp`. */
  bookBatch(rows: readonly PendingRow[]): void {
    this.#attempt(() => {
      this.#bookRows(rows)
      this.#raiseFloor(this.#newestId())
    })
  }

  /** A failure leaves the entries to the pass, which reports it: no record waits for its receipt. */
  #attempt(work: () => void): boolean {
    this.#savepoint.run()
    try {
      work()
      this.#release.run()
      return true
    } catch (error) {
      if (!this.#db.inTransaction) throw error
      this.#rollbackTo.run()
      this.#release.run()
      return false
    }
  }

  /** There is one writer: ids come in order, and all below the newest exist. */
  #chunk(limit: number): Omit<Booked, 'accounts'> {
    const rows = this.#pending.all(this.#floor(), limit) as PendingRow[]
    shapeIntegers(rows as unknown as Record<string, unknown>[])
    this.#bookRows(rows)
    const isLast = rows.length < limit
    const passed = isLast ? this.#newestId() : rows.at(-1)!.id
    this.#raiseFloor(passed)
    const entries = rows.length
    return isLast
      ? { entries }
      : { entries, pass: { afterId: passed, settledId: passed, chunks: 0 } }
  }

  #bookRows(rows: readonly PendingRow[]): void {
    const ends = new Map<string, ChainEnd>()
    for (const { account_id } of rows) if (!ends.has(account_id)) this.#loadEnd(ends, account_id)
    this.#insertReceipts(makeReceipts(rows, ends, this.#metaOf(currencyKey) ?? ''))
    const names = this.#takeNames(rows)
    const hours = gatherHours(rows, modelIn(names))
    for (const hour of hours) this.#hour.run(...valuesOf(hour))
    for (const day of gatherDays(hours)) this.#day.run(...day)
    for (const hour of gatherTags(rows, names)) this.#tag.run(...tagValues(hour))
    for (const account of ends.keys()) this.#moved.add(account)
  }

  #insertReceipts(receipts: readonly Schema['receipts'][]): void {
    const values = receipts.map((receipt) => receiptColumns.map((column) => receipt[column]))
    const together = values.length - (values.length % receiptsAtOnce)
    for (let at = 0; at < together; at += receiptsAtOnce) {
      this.#receipts.run(...values.slice(at, at + receiptsAtOnce).flat())
    }
    for (const each of values.slice(together)) this.#receipt.run(...each)
  }

  /** The names of their totals; new ones are stored. */
  #takeNames(rows: readonly PendingRow[]): TotalNames {
    const naming = nameTotals(rows)
    let step = naming.next()
    while (!step.done) {
      const { account_id, month, name, values } = step.value
      const scope = [account_id, month, name] as const
      const known = values.filter((value) => this.#nameKnown.get(...scope, value) !== null)
      // Only a new name has to know how many there are.
      const { count } =
        known.length === values.length
          ? { count: 0 }
          : (this.#namesCount.get(...scope) as { count: bigint })
      step = naming.next({ values: known, count: Number(count) })
    }
    for (const added of step.value.added) this.#addName.run(...added)
    return step.value
  }

  #loadEnd(ends: Map<string, ChainEnd>, accountId: string): void {
    const row = this.#end.get(accountId) as EndRow | null
    if (row === null) return
    const { number, balance_nanos: balanceNanos, hash } = row
    ends.set(accountId, { number: Number(number), balanceNanos, hash })
  }

  #metaOf(key: string): string | undefined {
    return (this.#meta.get(key) as { value: string } | null)?.value
  }

  #floor(): number {
    return Number(this.#metaOf(floorKey) ?? '0')
  }

  #raiseFloor(to: number): void {
    if (to > this.#floor()) this.#setMeta.run(floorKey, String(to))
  }

  #newestId(): number {
    return Number((this.#newest.get() as { id: bigint | null }).id ?? 0n)
  }

  close(): void {
    const names = [this.#nameKnown, this.#namesCount, this.#addName]
    const reads = [this.#meta, this.#pending, this.#newest, this.#end, ...names]
    const hours = [this.#hour, this.#day, this.#tag]
    const writes = [this.#setMeta, this.#receipt, this.#receipts, ...hours]
    const bounds = [this.#begin, this.#commit, this.#savepoint, this.#release, this.#rollbackTo]
    for (const statement of [...reads, ...writes, ...bounds]) statement.finalize()
  }
}

const insertReceipts = (rows: number): string => {
  const row = `(${receiptColumns.map(() => '?').join(', ')})`
  return `INSERT INTO receipts (${receiptColumns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')}`
}

interface EndRow {
  number: bigint
  balance_nanos: bigint
  hash: string
}
