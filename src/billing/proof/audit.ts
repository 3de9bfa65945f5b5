// Verifies the ledger from its entries, for all accounts or one, at one moment and while the
// gateway runs: each check by name, each difference with its location.
import { formatNanos } from '../../lib/text/decimal.ts'
import type { Store, Tx } from '../../store/index.ts'
import {
  type AuditScope,
  type BooksOf,
  balancePages,
  impossible,
  overRefunded,
  ownerless,
} from '../../store/proof/audit.ts'
import {
  type Books,
  missingGuards,
  receiptPages,
  type Stretch,
  sealPages,
  timeText,
  unreceipted,
} from '../../store/proof/audit-chain.ts'
import { openedAtMs, wrongEnds } from '../../store/proof/audit-recent.ts'
import { overdueTasks } from '../../store/proof/audit-tasks.ts'
import { wrongDays, wrongHours } from '../../store/proof/audit-totals.ts'
import { currencyOf } from '../../store/proof/receipts.ts'
import { ChainWalk, type Knows, knowsAny, SealWalk } from './audit-chain.ts'
import { type CheckName, Findings, maxOfEach, type Problem } from './audit-findings.ts'
import { matchEntries } from './audit-matches.ts'
import { compareMonths } from './audit-months.ts'

export type { Problem } from './audit-findings.ts'

export interface AuditOptions {
  /** Only this account. */
  accountId?: string | undefined
  /** Absent: a signature is checked only against the key it names. */
  knows?: Knows | undefined
  /** Maximum lifetime of a task. */
  taskLifetimeMs?: number | undefined
  nowMs?: number | undefined
}

interface AuditResult {
  ok: boolean
  accounts: number
  entries: number
  receipts: number
  seals: number
  problems: Problem[]
  /** Each check by name, which invariants it proves, and how many problems it found. */
  checks: { check: CheckName; proves: readonly string[]; problems: number }[]
  took_ms: number
}

const dayMs = 24 * 3_600_000
/** A hold ends within this time after its task expires or the gateway is back. */
export const holdGraceMs = 3_600_000

export async function auditBooks(store: Store, options: AuditOptions = {}): Promise<AuditResult> {
  const startMs = performance.now()
  const { db, end } = await store.snapshot()
  try {
    const findings = new Findings()
    const scope: AuditScope = { accountId: options.accountId }
    const names = new Map<string, string>()
    const counts = { accounts: 0, entries: 0, receipts: 0, seals: 0 }
    for await (const page of balancePages(db, scope)) {
      for (const books of page) {
        compareBalance(findings, books)
        names.set(books.accountId, books.name)
        counts.accounts++
        counts.entries += books.entries
      }
    }
    findings.addAll('transfers', await impossible(db, scope, maxOfEach))
    findings.addAll('transfers', await overRefunded(db, scope, maxOfEach))
    if (scope.accountId === undefined) findings.addAll('transfers', await ownerless(db, maxOfEach))
    const books = { db, dialect: store.dialect }
    await matchEntries(books, scope, findings)
    await findOverdue(db, scope, findings, { nowMs: store.clock.nowMs(), ...options })
    await proveChain(books, scope, findings, counts, options.knows ?? knowsAny)
    findings.addAll('sums_by_hour', await wrongHours(books, scope, maxOfEach))
    await findWrongDays(db, scope, findings)
    await findGuards(books, findings)
    await compareMonths(db, scope, findings, options.knows ?? knowsAny)
    const problems = findings.problems((id) => names.get(id))
    const took_ms = Math.round(performance.now() - startMs)
    return { ok: problems.length === 0, ...counts, problems, checks: findings.outcomes(), took_ms }
  } finally {
    await end()
  }
}

async function findWrongDays(db: Tx, { accountId }: AuditScope, findings: Findings) {
  for (const day of await wrongDays(db, accountId, maxOfEach)) {
    const from = timeText(day.dayMs)
    const problem = `the sums of the day from ${from} are not those of its hours`
    findings.add('sums_by_hour', { accountId: day.accountId, problem })
  }
}

export function compareBalance(findings: Findings, books: Omit<BooksOf, 'entries'>): void {
  const { accountId, balanceNanos, heldNanos, leasedNanos, creditLeasesNanos } = books
  const { entriesBalanceNanos, entriesHeldNanos } = books
  const add = (check: CheckName, problem: string) => findings.add(check, { accountId, problem })
  const text = (nanos: bigint) => formatNanos(nanos)
  if (balanceNanos !== entriesBalanceNanos) {
    const [said, sum] = [text(balanceNanos), text(entriesBalanceNanos)]
    add('balances', `the balance is ${said}, its entries add up to ${sum}`)
  }
  if (heldNanos !== entriesHeldNanos) {
    const [said, sum] = [text(heldNanos), text(entriesHeldNanos)]
    add('balances', `${said} are held, the entries say ${sum}`)
  }
  if (leasedNanos !== creditLeasesNanos) {
    const [said, sum] = [text(leasedNanos), text(creditLeasesNanos)]
    add('credit_leases', `${said} are drawn, the gateways' credit_leases add up to ${sum}`)
  }
  if (balanceNanos - heldNanos - leasedNanos < 0n) {
    add('never_below_zero', 'available is below zero')
  }
}

/** While no gateway ran, no hold could end: time counts from when the database was opened. */
export async function findOverdue(
  db: Tx,
  scope: AuditScope,
  findings: Findings,
  { taskLifetimeMs = dayMs, nowMs = Date.now() }: AuditOptions,
): Promise<void> {
  if (nowMs - (await openedAtMs(db)) < holdGraceMs) return
  const madeBeforeMs = nowMs - taskLifetimeMs - holdGraceMs
  const found = await overdueTasks(db, scope, { madeBeforeMs, limit: maxOfEach })
  findings.addAll('holds', found)
}

async function proveChain(
  books: Books,
  scope: AuditScope,
  findings: Findings,
  counts: { receipts: number; seals: number },
  knows: Knows,
): Promise<void> {
  const { db } = books
  const walk = new ChainWalk(await currencyOf(db), (wrong) => findings.add('receipts', wrong))
  const { accountId } = scope
  const all: Stretch | undefined =
    accountId === undefined ? undefined : { accountId, first: 1, last: Number.MAX_SAFE_INTEGER }
  for await (const page of receiptPages(books, all)) {
    counts.receipts += page.length
    for (const row of page) walk.take(row)
  }
  findings.addAll('receipts', await unreceipted(db, scope, maxOfEach))
  findings.addAll('receipts', await wrongEnds(db, scope, maxOfEach))
  const seals = new SealWalk(knows, (wrong) => findings.add('seals', wrong))
  for await (const page of sealPages(db, all)) {
    counts.seals += page.length
    for (const seal of page) seals.take(seal)
  }
}

export async function findGuards(books: Books, findings: Findings): Promise<void> {
  for (const name of await missingGuards(books)) {
    const problem = `the trigger ${name} that keeps entries from being changed is not there`
    findings.add('guards', { accountId: '', problem })
  }
}
