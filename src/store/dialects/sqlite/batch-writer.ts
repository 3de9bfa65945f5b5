// The hot statements of the SQLite dialect: one batch of records in one transaction. Runs in the
// writer thread. Nearly all of the store's CPU time is spent in this file.
import type { Database, Statement } from 'bun:sqlite'
import {
  entryColumns,
  lossColumns,
  nullableInEntries,
  nullableInLosses,
  nullableInRequests,
  requestColumns,
} from '../group-commit.ts'
import { NewEntries } from './new-entries.ts'
import type { SqliteReceiptWriter } from './receipt-writer.ts'

/** In the meta table: the last batch of the journal whose rows are in the tables. */
export const appliedKey = 'journal_applied'

/** Cells of rows, one row after the other. */
export interface RowCells {
  requests: string[]
  entries: string[]
  losses: string[]
}

const entryWidth = entryColumns.length
const lossKey = 'ref, reason, channel, upstream_id'
const entryAccount = entryColumns.indexOf('account_id')
const entryAt = entryColumns.indexOf('at_ms')
const entryKind = entryColumns.indexOf('kind')
const entryAmount = entryColumns.indexOf('amount_nanos')

/** Bound as numbers, which costs less than text that SQLite turns into one. Amounts may be larger. */
const numbers: ReadonlySet<string> = new Set([
  'at_ms',
  'status',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'first_byte_ms',
  'total_ms',
  'quantity',
  'estimated',
  'is_estimate',
])

/** Inserts rows of cells into one table; a row that already exists changes nothing. */
class RowInsert {
  readonly #statement: Statement
  readonly #isNullable: readonly boolean[]
  readonly #isNumber: readonly boolean[]
  /** Bound within each call, then used again. */
  readonly #row: (string | number | null)[]

  constructor(
    db: Database,
    table: string,
    columns: readonly string[],
    key: string,
    nullable: ReadonlySet<string>,
  ) {
    this.#statement = db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT (${key}) DO NOTHING`,
    )
    this.#isNullable = columns.map((column) => nullable.has(column))
    this.#isNumber = columns.map((column) => numbers.has(column))
    this.#row = columns.map(() => null)
  }

  /** The row that begins at this cell. Its number if it is new. */
  insert(cells: readonly string[], at: number): number | undefined {
    const row = this.#row
    for (let i = 0; i < row.length; i++) row[i] = this.#value(cells[at + i]!, i)
    const { changes, lastInsertRowid } = this.#statement.run(row)
    return changes > 0 ? Number(lastInsertRowid) : undefined
  }

  /** True when all are new. */
  insertAll(cells: readonly string[]): boolean {
    let allNew = true
    for (let at = 0; at < cells.length; at += this.#row.length) {
      if (this.insert(cells, at) === undefined) allNew = false
    }
    return allNew
  }

  #value(text: string, i: number): string | number | null {
    if (text === '' && this.#isNullable[i]) return null
    if (!this.#isNumber[i]) return text
    const number = Number(text)
    // As text, so that the database refuses it; it would take a NaN for null.
    return Number.isNaN(number) ? text : number
  }

  close(): void {
    this.#statement.finalize()
  }
}

export class BatchWriter {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #request: RowInsert
  readonly #entry: RowInsert
  readonly #loss: RowInsert
  readonly #closedUntil: Statement
  readonly #balance: Statement
  readonly #held: Statement
  readonly #applied: Statement
  readonly #balanceChanges = new Map<string, bigint>()
  readonly #heldChanges = new Map<string, bigint>()
  readonly #closedUntilMs = new Map<string, number>()

  readonly #receipts: SqliteReceiptWriter
  readonly #beforeCommit: () => void

  /** The tables must exist. */
  constructor(db: Database, receipts: SqliteReceiptWriter, beforeCommit: () => void = () => {}) {
    this.#db = db
    this.#receipts = receipts
    this.#beforeCommit = beforeCommit
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#request = new RowInsert(db, 'requests', requestColumns, 'request_id', nullableInRequests)
    this.#entry = new RowInsert(db, 'entries', entryColumns, 'ref, kind', nullableInEntries)
    this.#loss = new RowInsert(db, 'losses', lossColumns, lossKey, nullableInLosses)
    this.#closedUntil = db.prepare('SELECT closed_until_ms FROM accounts WHERE id = ?')
    this.#balance = db.prepare('UPDATE accounts SET balance_nanos = balance_nanos + ? WHERE id = ?')
    this.#held = db.prepare('UPDATE accounts SET held_nanos = held_nanos + ? WHERE id = ?')
    this.#applied = db.prepare(
      `INSERT INTO meta VALUES ('${appliedKey}', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    )
  }

  /** `number`: the journal's batch that these rows complete, if they do. */
  write(parts: Iterable<RowCells>, number?: number): void {
    this.#balanceChanges.clear()
    this.#heldChanges.clear()
    this.#closedUntilMs.clear()
    this.#begin.run()
    try {
      const added = new NewEntries()
      for (const part of parts) this.#insertPart(part, added)
      if (added.isComplete && added.rows.length > 0) this.#receipts.bookBatch(added.rows)
      for (const [account, nanos] of this.#balanceChanges) this.#balance.run(nanos, account)
      for (const [account, nanos] of this.#heldChanges) this.#held.run(nanos, account)
      if (number !== undefined) this.#applied.run(String(number))
      this.#beforeCommit()
      this.#commit.run()
    } catch (error) {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
      throw error
    }
  }

  #insertPart({ requests, entries, losses }: RowCells, added: NewEntries): void {
    // The row that is there may say something else than this one.
    if (!this.#request.insertAll(requests)) added.isComplete = false
    if (entries.length > 0 && added.begin(requests) && !this.#receipts.catchUp()) {
      added.isComplete = false
    }
    for (let at = 0; at < entries.length; at += entryWidth) this.#insertEntry(entries, at, added)
    this.#loss.insertAll(losses)
  }

  /** An entry that already exists changes nothing, the balance included. */
  #insertEntry(entries: string[], at: number, added: NewEntries): void {
    const account = entries[at + entryAccount]!
    const closedUntilMs = this.#closedUntilMsOf(account)
    if (Number(entries[at + entryAt]) < closedUntilMs) entries[at + entryAt] = String(closedUntilMs)
    const id = this.#entry.insert(entries, at)
    if (id === undefined) return
    added.add(id, entries, at)
    const kind = entries[at + entryKind]
    const amount = BigInt(entries[at + entryAmount]!)
    if (kind === 'hold' || kind === 'release') {
      this.#heldChanges.set(account, (this.#heldChanges.get(account) ?? 0n) - amount)
    } else {
      this.#balanceChanges.set(account, (this.#balanceChanges.get(account) ?? 0n) + amount)
    }
  }

  /** No entry lands in a closed month; read once per account and batch. */
  #closedUntilMsOf(account: string): number {
    let ms = this.#closedUntilMs.get(account)
    if (ms === undefined) {
      const row = this.#closedUntil.get(account) as { closed_until_ms: bigint } | null
      ms = Number(row?.closed_until_ms ?? 0)
      this.#closedUntilMs.set(account, ms)
    }
    return ms
  }

  close(): void {
    const rows = [this.#request, this.#entry, this.#loss]
    for (const each of rows) each.close()
    const all = [
      this.#begin,
      this.#commit,
      this.#closedUntil,
      this.#balance,
      this.#held,
      this.#applied,
    ]
    for (const statement of all) statement.finalize()
  }
}
