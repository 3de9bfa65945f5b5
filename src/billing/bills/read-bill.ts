// A bill as it is shown: an open month from the ledger, a closed one as it was closed. A closed
// bill is compared with the ledger each time: a difference is reported and raises an alert. Closes
// nothing.
import type { Issuer } from '../../contract/config-schema/issuer.ts'
import type { Profile } from '../../contract/config-schema/profile.ts'
import { maxTotalNames } from '../../contract/totals.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import { findIssuer } from '../../store/catalog/issuer.ts'
import { inSnapshot, type Store, type Tx } from '../../store/index.ts'
import { type ClosedMonth, findClosedMonth } from '../../store/ledger/closed-months.ts'
import { type Bill, type BillOf, makeBill, nanosOf } from './bill.ts'

/** Signs closed bills, and verifies its signatures. */
interface Signer {
  sign(text: string): { key: string; signature: string }
  knows(text: string, signed: { key: string; signature: string }): boolean
}

export interface BillDeps {
  /** As the file declares it; undefined: the store may say. */
  issuer?: Issuer | undefined
  store: Store
  signer: Signer
  clock: { nowMs(): number }
  log: Log
}

/** Both sides of a bill as they were when it was closed; absent in bills that 0.3 closed. */
interface Parties {
  customer?: { name: string } & Profile
  issuer?: Issuer | null
}

export interface ClosedBill extends Bill, Parties {
  state: 'closed'
  closed_at: string
  note: string | null
  /** The last receipt that belongs to it or to an earlier month. */
  last_number: number
  /** Of the bills of its month, in the order of closing: 2026-10-0007. Absent in bills that 0.3 closed. */
  number?: string
}

/** A figure of the closed bill, and its value in the ledger now. */
interface Difference {
  what: string
  closed: string
  ledger: string
}

export type ShownBill =
  | (Bill &
      Parties & {
        state: 'open'
        closed_at: null
        note: null
        last_number: null
        number: null
        differences: []
      })
  | (ClosedBill & { differences: Difference[]; proof: BillProof })

/** The signature covers the closed bill's JSON text without differences and proof. */
interface BillProof {
  key: string
  signature: string
}

/** As they are now. */
export async function partiesOf(
  db: Tx,
  { accountId, account }: Pick<BillOf, 'accountId' | 'account'>,
  declared: Issuer | undefined,
): Promise<Required<Parties>> {
  const customer = (await findAccount(db, accountId))?.profile
  return { customer: { name: account, ...customer }, issuer: declared ?? (await findIssuer(db)) }
}

/** `db`: what else is read of it shows the same moment. */
export async function readBill(deps: BillDeps, of: BillOf, db?: Tx): Promise<ShownBill> {
  if (db === undefined) return inSnapshot(deps.store, (one) => readBill(deps, of, one))
  const closed = await findClosedMonth(db, of.accountId, of.month)
  const bill = await makeBill(db, of)
  if (closed !== undefined) return showClosed(deps, closed, bill)
  return {
    ...bill,
    ...(await partiesOf(db, of, deps.issuer)),
    state: 'open',
    closed_at: null,
    note: null,
    last_number: null,
    number: null,
    differences: [],
  }
}

async function showClosed(deps: BillDeps, closed: ClosedMonth, now: Bill): Promise<ShownBill> {
  const bill = JSON.parse(closed.body) as ClosedBill
  const { key, signature } = closed
  const differences = [
    ...(deps.signer.knows(closed.body, closed)
      ? []
      : [{ what: 'signature', closed: signature, ledger: 'is not of this text and this gateway' }]),
    ...differencesOf(bill, now),
  ]
  if (differences.length > 0) await raise(deps, closed, differences)
  return { ...bill, differences, proof: { key, signature } }
}

/** Names may change; charged quantities and amounts may not. */
export function differencesOf(closed: Bill, now: Bill): Difference[] {
  // A bill that was closed when names had no maximum tells apart what is one today: then the sums count.
  const isLong = (part: 'totals' | 'tokens') => closed[part].length > maxTotalNames + 1
  const parts: [what: string, of: (bill: Bill) => unknown][] = [
    ['account_id', (bill) => bill.account_id],
    ['month', (bill) => bill.month],
    ['currency', (bill) => bill.currency],
    ['opening_balance', (bill) => bill.opening_balance],
    ['credits', (bill) => bill.credits],
    ['adjustments', (bill) => bill.adjustments],
    ['charges', (bill) => bill.charges],
    // Bills that were closed when there were none do not tell them.
    ['refunds', ({ refunds = formatNanos(0n) }) => refunds],
    ['closing_balance', (bill) => bill.closing_balance],
    ['charge_count', (bill) => bill.charge_count],
    ['totals', ({ totals }) => (isLong('totals') ? sumsOf(totals) : totals)],
    [
      'tokens',
      ({ tokens }) =>
        isLong('tokens') ? sumsOf(tokens) : tokens.map(({ name: _, ...rest }) => rest),
    ],
    ['movements', (bill) => bill.movements],
  ]
  return parts.flatMap(([what, of]) => {
    const [then, today] = [textOf(of(closed)), textOf(of(now))]
    return then === today ? [] : [{ what, closed: then, ledger: today }]
  })
}

const sumsOf = (rows: readonly { charges: number; amount: string }[]) => ({
  charges: rows.reduce((sum, { charges }) => sum + charges, 0),
  amount: formatNanos(rows.reduce((sum, { amount }) => sum + nanosOf(amount), 0n)),
})

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** Maximum length of each side of a difference in the alert. */
const maxCharacters = 200

async function raise(
  { store, clock, log }: BillDeps,
  { accountId, month }: ClosedMonth,
  differences: readonly Difference[],
): Promise<void> {
  const short = (text: string) =>
    text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
  const said = differences.map(
    ({ what, closed, ledger }) => `${what} was ${short(closed)} and is ${short(ledger)}`,
  )
  const message = `the closed bill of ${month} is not what the ledger says: ${said.join('; ')}`
  log.error(message, { account_id: accountId })
  try {
    await store.tx((tx) =>
      raiseAlert(tx, { kind: 'books', subject: accountId, message, atMs: clock.nowMs() }),
    )
  } catch (error) {
    // The reader gets the bill in any case.
    log.error('the alert could not be written', { account_id: accountId, error })
  }
}
