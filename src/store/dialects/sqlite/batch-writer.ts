// The hot statements of the SQLite dialect: one batch of records in one transaction, with the receipts of
// its charges and their totals. Runs in the writer thread. Nearly all of the store's CPU time is spent here.
import type { Database, Statement } from 'bun:sqlite'
import { adding, columnsOf, type GrainName, grainNames, grains } from '../../proof/grains.ts'
import { type ChainEnd, currencyKey, nextReceipt } from '../../proof/receipts.ts'
import { rollUp } from '../../proof/roll-up.ts'
import {
  addNameStatement,
  countNamesStatement,
  knownNameStatement,
} from '../../proof/total-names.ts'
import {
  callColumns,
  cell,
  chargeIn,
  freeCostIn,
  isNullable,
  kindOf,
  storedColumns,
} from '../../rows/call-row.ts'
import type { Booking } from '../../rows/ledger-rows.ts'
import { lossColumns, nullableInLosses } from '../group-commit-rows.ts'

/** In the meta table: the last batch of the journal whose rows are in the tables. */
export const appliedKey = 'journal_applied'

/** Cells of rows, one row after the other. */
export interface RowCells {
  requests: string[]
  losses: string[]
}

const width = callColumns.length
const lossKey = 'ref, reason, channel, upstream_id'

type Value = string | number | bigint | null

/** A cell as the database takes it: numbers cost less than text that SQLite turns into one. */
function cellValue(text: string, mayBeNull: boolean, isNumber: boolean): Value {
  if (text === '' && mayBeNull) return null
  if (!isNumber) return text
  const number = Number(text)
  // As text, so that the database refuses it; it would take a NaN for null.
  return Number.isNaN(number) ? text : number
}

const nullable = callColumns.map(isNullable)
/** Amounts may be larger than a number can be: they are bound as text. */
const isNumber = callColumns.map((name) => kindOf(name) === 'int' || kindOf(name) === 'real')
const lossNumbers: ReadonlySet<string> = new Set(['at_ms', 'quantity', 'is_estimate'])

const insertInto = (table: string, columns: readonly string[], ending: string): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${ending}`

const minNanos = -(2n ** 63n)

/** As the database would refuse it: the record is set aside. */
const refused = (why: string): Error =>
  Object.assign(new Error(`a call cannot be charged: ${why}`), { code: 'SQLITE_CONSTRAINT' })

/** An account as the batch found it and has moved it. */
interface Account extends ChainEnd {
  readonly closedUntilMs: number
}

export class BatchWriter {
  readonly #db: Database
  readonly #statements: Statement[] = []
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #call: Statement
  readonly #loss: Statement
  readonly #account: Statement
  readonly #moveAccount: Statement
  readonly #newest: Statement
  readonly #meta: Statement
  readonly #applied: Statement
  readonly #nameKnown: Statement
  readonly #namesCount: Statement
  readonly #addName: Statement
  readonly #totals: Readonly<Record<GrainName, Statement>>
  readonly #beforeCommit: () => void
  /** Bound within each call, then used again. */
  readonly #row: Value[] = storedColumns.map(() => null)
  readonly #accounts = new Map<string, Account>()
  #bookings: Booking[] = []
  #currency = ''
  #lastId = 0

  /** The tables must exist. */
  constructor(db: Database, beforeCommit: () => void = () => {}) {
    this.#db = db
    this.#beforeCommit = beforeCommit
    const prepare = (text: string): Statement => {
      const statement = db.prepare(text)
      this.#statements.push(statement)
      return statement
    }
    this.#begin = prepare('BEGIN IMMEDIATE')
    this.#commit = prepare('COMMIT')
    this.#call = prepare(
      insertInto('requests', storedColumns, 'ON CONFLICT (request_id) DO NOTHING'),
    )
    this.#loss = prepare(insertInto('losses', lossColumns, `ON CONFLICT (${lossKey}) DO NOTHING`))
    this.#account = prepare(
      `SELECT closed_until_ms, last_number, last_hash, last_balance_nanos FROM accounts WHERE id = ?`,
    )
    this.#moveAccount = prepare(
      `UPDATE accounts SET balance_nanos = balance_nanos + ? - last_balance_nanos,
         last_balance_nanos = ?, last_number = ?, last_hash = ? WHERE id = ?`,
    )
    this.#newest = prepare(
      'SELECT (SELECT max(id) FROM entries) AS entry, (SELECT max(seq) FROM requests) AS call',
    )
    this.#meta = prepare('SELECT value FROM meta WHERE key = ?')
    this.#applied = prepare(
      `INSERT INTO meta VALUES ('${appliedKey}', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    )
    this.#nameKnown = prepare(knownNameStatement)
    this.#namesCount = prepare(countNamesStatement)
    this.#addName = prepare(addNameStatement)
    const totals = grainNames.map((name) => {
      const grain = grains[name]
      return [name, prepare(insertInto(grain.table, columnsOf(grain), adding(grain)))] as const
    })
    this.#totals = Object.fromEntries(totals) as Record<GrainName, Statement>
  }

  /** `number`: the journal's batch that these rows complete, if they do. */
  write(parts: Iterable<RowCells>, number?: number): void {
    this.#begin.run()
    try {
      this.#start()
      for (const { requests, losses } of parts) {
        for (let at = 0; at < requests.length; at += width) this.#insertCall(requests, at)
        for (let at = 0; at < losses.length; at += lossColumns.length) this.#insertLoss(losses, at)
      }
      if (this.#bookings.length > 0) this.#book()
      if (number !== undefined) this.#applied.run(String(number))
      this.#beforeCommit()
      this.#commit.run()
    } catch (error) {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
      throw error
    } finally {
      this.#bookings = []
      this.#accounts.clear()
    }
  }

  #start(): void {
    const { entry, call } = this.#newest.get() as { entry: bigint | null; call: bigint | null }
    this.#lastId = Math.max(Number(entry ?? 0n), Number(call ?? 0n))
    const currency = this.#meta.get(currencyKey) as { value: string } | null
    this.#currency = currency?.value ?? ''
  }

  /** A row that exists stays as it is, and changes nothing else. */
  #insertCall(cells: readonly string[], at: number): void {
    const row = this.#row
    for (let i = 0; i < width; i++) row[i] = cellValue(cells[at + i]!, nullable[i]!, isNumber[i]!)
    const id = this.#lastId + 1
    row[width] = id
    const isCharged = cells[at + cell.booked_at_ms] !== ''
    if (!isCharged) {
      row[width + 1] = row[width + 2] = row[width + 3] = null
      if (this.#call.run(row).changes === 0) return
      this.#lastId = id
      const free = freeCostIn(cells, at)
      if (free !== undefined) this.#bookings.push(free)
      return
    }
    const accountId = cells[at + cell.account_id]!
    const account = this.#accountOf(accountId)
    const booking = chargeIn(cells, at, id, account.closedUntilMs)
    const receipt = nextReceipt(account, booking, this.#currency)
    if (receipt.balanceNanos < minNanos) throw refused('its balance would be out of range')
    row[cell.booked_at_ms] = booking.atMs
    row[width + 1] = receipt.number
    row[width + 2] = receipt.balanceNanos
    row[width + 3] = receipt.hash
    if (this.#call.run(row).changes === 0) return
    this.#lastId = id
    account.number = receipt.number
    account.balanceNanos = receipt.balanceNanos
    account.hash = receipt.hash
    this.#bookings.push(booking)
  }

  #insertLoss(cells: readonly string[], at: number): void {
    const row = lossColumns.map((name, i) =>
      cellValue(cells[at + i]!, nullableInLosses.has(name), lossNumbers.has(name)),
    )
    this.#loss.run(...row)
  }

  /** Read once per batch. */
  #accountOf(id: string): Account {
    const known = this.#accounts.get(id)
    if (known !== undefined) return known
    const row = this.#account.get(id) as {
      last_balance_nanos: bigint
      closed_until_ms: bigint
      last_number: bigint
      last_hash: string
    } | null
    if (row === null) throw refused(`the account ${id} does not exist`)
    const account = {
      closedUntilMs: Number(row.closed_until_ms),
      number: Number(row.last_number),
      balanceNanos: row.last_balance_nanos,
      hash: row.last_hash,
    }
    this.#accounts.set(id, account)
    return account
  }

  /** Balance and end of the chain once per account, and the totals. */
  #book(): void {
    for (const [id, { balanceNanos, number, hash }] of this.#accounts) {
      this.#moveAccount.run(balanceNanos, balanceNanos, number, hash, id)
    }
    const rolling = rollUp(this.#bookings)
    let step = rolling.next()
    while (!step.done) {
      const { account_id, month, name, values } = step.value
      const scope = [account_id, month, name] as const
      const known = values.filter((value) => this.#nameKnown.get(...scope, value) !== null)
      // Only a new name has to know how many there are.
      const isNew = known.length < values.length
      const counted = isNew ? (this.#namesCount.get(...scope) as { count: bigint }) : undefined
      step = rolling.next({ values: known, count: Number(counted?.count ?? 0n) })
    }
    for (const added of step.value.names) this.#addName.run(...added)
    for (const name of grainNames) {
      for (const row of step.value.rows[name]) this.#totals[name].run(...row)
    }
  }

  close(): void {
    for (const statement of this.#statements) statement.finalize()
  }
}
