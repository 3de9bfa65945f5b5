// Incremental audit: entries since the last run, every account they touched, and some of the others
// in turn. Finds there within a minute what a full audit would.

import type { Store, Tx } from '../../store/index.ts'
import { type AuditScope, impossible, overRefunded } from '../../store/proof/audit.ts'
import { type Books, receiptPages, sealPages } from '../../store/proof/audit-chain.ts'
import {
  liveHolds,
  movedAccounts,
  newStretches,
  nextAccounts,
  readBooksEnd,
  recentBalances,
} from '../../store/proof/audit-recent.ts'
import { findReceipts } from '../../store/proof/receipt-lines.ts'
import { currencyOf } from '../../store/proof/receipts.ts'
import { type AuditOptions, compareBalance, findGuards, findOverdue } from './audit.ts'
import { ChainWalk, type Knows, knowsAny, problemOfSeal } from './audit-chain.ts'
import { Findings, maxOfEach, type Problem } from './audit-findings.ts'
import { matchEntries } from './audit-matches.ts'

/** Up to where the ledger has been audited. */
export interface AuditMarks {
  /** Of the previous run as well: rows may be committed out of order. */
  ids: readonly [before: number, last: number]
  /** The account audited last in turn. */
  accountId: string
}

export const noMarks: AuditMarks = { ids: [0, 0], accountId: '' }

/** More than this waits for the next run. */
const maxEntries = 50_000
const accountsAtOnce = 200

export interface RecentAudit {
  marks: AuditMarks
  problems: Problem[]
  /** Entries were left for the next run. */
  isBehind: boolean
}

interface RecentOptions extends AuditOptions {
  /** Awaited between pages, so that other work can proceed. */
  pause?: () => Promise<void>
}

export async function auditRecent(
  store: Store,
  marks: AuditMarks,
  options: RecentOptions = {},
): Promise<RecentAudit> {
  const { db, end } = await store.snapshot()
  try {
    const books = { db, dialect: store.dialect }
    const reached = await readBooksEnd(db)
    const [before, last] = marks.ids
    const since = { afterId: before, untilId: Math.min(reached, last + maxEntries) }
    const findings = new Findings()
    const turn = await nextAccounts(db, marks.accountId, accountsAtOnce)
    await proveBalances(db, [...(await movedAccounts(db, since)), ...turn], findings)
    await proveEntries(books, { since }, findings, options)
    await findOverdue(db, {}, findings, options)
    await findGuards(books, findings)
    return {
      marks: {
        ids: [last, Math.max(last, since.untilId)],
        accountId: turn.length < accountsAtOnce ? '' : turn.at(-1)!,
      },
      problems: findings.problems(() => undefined),
      isBehind: since.untilId < reached,
    }
  } finally {
    await end()
  }
}

async function proveBalances(
  db: Tx,
  accountIds: readonly string[],
  findings: Findings,
): Promise<void> {
  const held = await liveHolds(db)
  const all = [...new Set(accountIds)]
  for (let at = 0; at < all.length; at += accountsAtOnce) {
    const some = all.slice(at, at + accountsAtOnce)
    const balances = await recentBalances(db, some, held)
    for (const books of balances) compareBalance(findings, books)
    const known = new Set(balances.map(({ accountId }) => accountId))
    for (const accountId of some) {
      if (known.has(accountId)) continue
      findings.add('transfers', { accountId, problem: 'entries belong to no account' })
    }
  }
}

async function proveEntries(
  books: Books,
  scope: Required<Pick<AuditScope, 'since'>>,
  findings: Findings,
  { knows = knowsAny, pause = async () => {} }: RecentOptions,
): Promise<void> {
  const { db } = books
  if (scope.since === undefined) return
  findings.addAll('transfers', await impossible(db, scope, maxOfEach))
  findings.addAll('transfers', await overRefunded(db, scope, maxOfEach))
  await matchEntries(books, scope, findings, pause)
  const currency = await currencyOf(db)
  for (const stretch of await newStretches(db, scope.since)) {
    await proveStretch(books, stretch, findings, { currency, knows, pause })
  }
}

async function proveStretch(
  books: Books,
  stretch: { accountId: string; first: number; last: number },
  findings: Findings,
  { currency, knows, pause }: { currency: string; knows: Knows; pause: () => Promise<void> },
): Promise<void> {
  const { db } = books
  const { accountId, first } = stretch
  const walk = new ChainWalk(currency, (wrong) => findings.add('receipts', wrong))
  const number = first - 1
  const before = (await findReceipts(db, accountId, [number])).get(number)
  if (before !== undefined) walk.resume(accountId, { number, ...before })
  for await (const page of receiptPages(books, stretch)) {
    for (const row of page) walk.take(row)
    await pause()
  }
  for await (const page of sealPages(db, stretch)) {
    for (const seal of page) {
      const problem = problemOfSeal(seal, knows)
      const { number } = seal
      if (problem !== undefined) findings.add('seals', { accountId, number, problem })
    }
  }
}
