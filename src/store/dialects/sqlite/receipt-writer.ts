// The receipt pass of receipts.ts on SQLite: a chunk in one transaction, in the writer thread,
// because sending rows to another thread and back costs several times the work itself.
import type { Database, Statement } from 'bun:sqlite'
import { addToDays, dayColumns, gatherDays } from '../../proof/daily-totals.ts'
import { addToHours, gatherHours, hourColumns, valuesOf } from '../../proof/hour-shares.ts'
import { floorKey, isBooked, joinCharged } from '../../proof/hourly-totals.ts'
import type { PendingRow } from '../../proof/pending-row.ts'
import type { Booked } from '../../proof/receipt-pass.ts'
import { type ChainEnd, currencyKey, makeReceipts, pendingColumns } from '../../proof/receipts.ts'
import {
  addToTags,
  gatherTags,
  knownValuesStatement,
  tagColumns,
  tagValues,
} from '../../proof/tag-totals.ts'
import { shapeIntegers } from '../integers.ts'

const endStatement = `
  SELECT number, balance_nanos, hash FROM receipts WHERE account_id = ?
  ORDER BY number DESC LIMIT 1`
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
  readonly #receipt: Statement
  readonly #hour: Statement
  readonly #day: Statement
  readonly #tag: Statement
  readonly #tagsKnown: Statement

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
    this.#receipt = db.prepare(
      'INSERT INTO receipts (entry_id, account_id, number, balance_nanos, hash) VALUES (?, ?, ?, ?, ?)',
    )
    this.#hour = db.prepare(hourStatement)
    this.#day = db.prepare(dayStatement)
    this.#tag = db.prepare(tagStatement)
    this.#tagsKnown = db.prepare(knownValuesStatement)
  }

  book(limit: number): Booked {
    this.#begin.run()
    try {
      const booked = this.#chunk(limit)
      this.#commit.run()
      return booked
    } catch (error) {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
      throw error
    }
  }

  /** There is one writer: ids come in order, and all below the newest exist. */
  #chunk(limit: number): Booked {
    const floor = Number(this.#metaOf(floorKey) ?? '0')
    const rows = this.#pending.all(floor, limit) as PendingRow[]
    shapeIntegers(rows as unknown as Record<string, unknown>[])
    const ends = new Map<string, ChainEnd>()
    for (const { account_id } of rows) if (!ends.has(account_id)) this.#loadEnd(ends, account_id)
    for (const receipt of makeReceipts(rows, ends, this.#metaOf(currencyKey) ?? '')) {
      const { entry_id, account_id, number, balance_nanos, hash } = receipt
      this.#receipt.run(entry_id, account_id, number, balance_nanos, hash)
    }
    const hours = gatherHours(rows)
    for (const hour of hours) this.#hour.run(...valuesOf(hour))
    for (const day of gatherDays(hours)) this.#day.run(...day)
    this.#writeTags(rows)
    const isLast = rows.length < limit
    const passed = isLast ? this.#newestId() : rows.at(-1)!.id
    if (passed > floor) this.#setMeta.run(floorKey, String(passed))
    const booked = { entries: rows.length, accounts: [...ends.keys()] }
    return isLast ? booked : { ...booked, pass: { afterId: passed, settledId: passed, chunks: 0 } }
  }

  #writeTags(rows: readonly PendingRow[]): void {
    const gathering = gatherTags(rows)
    let step = gathering.next()
    while (!step.done) {
      const { account_id, hour_ms, name } = step.value
      const known = this.#tagsKnown.all(account_id, hour_ms, name) as { value: string }[]
      step = gathering.next(known.map(({ value }) => value))
    }
    for (const hour of step.value) this.#tag.run(...tagValues(hour))
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

  #newestId(): number {
    return Number((this.#newest.get() as { id: bigint | null }).id ?? 0n)
  }

  close(): void {
    const reads = [this.#meta, this.#pending, this.#newest, this.#end, this.#tagsKnown]
    const hours = [this.#hour, this.#day, this.#tag]
    const writes = [this.#begin, this.#commit, this.#setMeta, this.#receipt, ...hours]
    for (const statement of [...reads, ...writes]) statement.finalize()
  }
}

interface EndRow {
  number: bigint
  balance_nanos: bigint
  hash: string
}
