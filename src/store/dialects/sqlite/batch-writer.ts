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

const requestWidth = requestColumns.length
const entryWidth = entryColumns.length
const lossWidth = lossColumns.length
const lossKey = 'ref, reason, channel, upstream_id'
const entryAccount = entryColumns.indexOf('account_id')
const entryAt = entryColumns.indexOf('at_ms')
const entryKind = entryColumns.indexOf('kind')
const entryAmount = entryColumns.indexOf('amount_nanos')

export class BatchWriter {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #request: Statement
  readonly #entry: Statement
  readonly #loss: Statement
  readonly #closedUntil: Statement
  readonly #balance: Statement
  readonly #held: Statement
  readonly #balanceChanges = new Map<string, bigint>()
  readonly #heldChanges = new Map<string, bigint>()
  readonly #closedUntilMs = new Map<string, number>()

  readonly #beforeCommit: () => void

  /** The tables must exist. */
  constructor(db: Database, beforeCommit: () => void = () => {}) {
    const insert = (
      table: string,
      columns: readonly string[],
      key: string,
      nullable: ReadonlySet<string>,
    ) => {
      const cells = columns.map((column) => (nullable.has(column) ? `NULLIF(?, '')` : '?'))
      return db.prepare(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${cells.join(', ')})
         ON CONFLICT (${key}) DO NOTHING`,
      )
    }
    this.#db = db
    this.#beforeCommit = beforeCommit
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#request = insert('requests', requestColumns, 'request_id', nullableInRequests)
    this.#entry = insert('entries', entryColumns, 'ref, kind', nullableInEntries)
    this.#loss = insert('losses', lossColumns, lossKey, nullableInLosses)
    this.#closedUntil = db.prepare('SELECT closed_until_ms FROM accounts WHERE id = ?')
    this.#balance = db.prepare('UPDATE accounts SET balance_nanos = balance_nanos + ? WHERE id = ?')
    this.#held = db.prepare('UPDATE accounts SET held_nanos = held_nanos + ? WHERE id = ?')
  }

  write(requests: string[], entries: string[], losses: string[]): void {
    this.#balanceChanges.clear()
    this.#heldChanges.clear()
    this.#closedUntilMs.clear()
    this.#begin.run()
    try {
      for (let at = 0; at < requests.length; at += requestWidth) {
        this.#request.run(...requests.slice(at, at + requestWidth))
      }
      for (let at = 0; at < entries.length; at += entryWidth) this.#insertEntry(entries, at)
      for (let at = 0; at < losses.length; at += lossWidth) {
        this.#loss.run(...losses.slice(at, at + lossWidth))
      }
      for (const [account, nanos] of this.#balanceChanges) this.#balance.run(nanos, account)
      for (const [account, nanos] of this.#heldChanges) this.#held.run(nanos, account)
      this.#beforeCommit()
      this.#commit.run()
    } catch (error) {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
      throw error
    }
  }

  /** An entry that already exists changes nothing, the balance included. */
  #insertEntry(entries: string[], at: number): void {
    const account = entries[at + entryAccount]!
    const row = entries.slice(at, at + entryWidth)
    const closedUntilMs = this.#closedUntilMsOf(account)
    if (Number(row[entryAt]) < closedUntilMs) row[entryAt] = String(closedUntilMs)
    const { changes } = this.#entry.run(...row)
    if (changes === 0) return
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
    const rows = [this.#request, this.#entry, this.#loss, this.#closedUntil]
    const all = [this.#begin, this.#commit, ...rows, this.#balance, this.#held]
    for (const statement of all) statement.finalize()
  }
}
