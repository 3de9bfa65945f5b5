// The books proven from their entries: every balance recomputed, every charge matched with its row,
// every task with its hold.
import { formatNanos } from '../lib/decimal.ts'
import {
  type BooksOf,
  compareBalances,
  mismatchedCharges,
  mismatchedTasks,
} from '../store/audit.ts'
import type { Store } from '../store/index.ts'

export interface Problem {
  account?: string
  ref?: string
  problem: string
}

export interface AuditResult {
  ok: boolean
  accounts: number
  entries: number
  problems: Problem[]
}

/** Enough to see what is wrong; the rest is the same again. */
const mostMismatches = 100

export async function auditBooks(store: Store): Promise<AuditResult> {
  const books = await compareBalances(store.read)
  const charges = await mismatchedCharges(store.read, mostMismatches)
  const tasks = await mismatchedTasks(store.read, mostMismatches)
  const problems = [...books.flatMap(problemsOf), ...charges, ...tasks]
  return {
    ok: problems.length === 0,
    accounts: books.length,
    entries: books.reduce((sum, { entries }) => sum + entries, 0),
    problems,
  }
}

function problemsOf(books: BooksOf): Problem[] {
  const { name, balanceNanos, heldNanos, drawnNanos, pursesNanos } = books
  const { entriesBalanceNanos, entriesHeldNanos } = books
  const found: string[] = []
  if (balanceNanos !== entriesBalanceNanos) {
    const [said, sum] = [balanceNanos, entriesBalanceNanos].map(formatNanos)
    found.push(`the balance is ${said}, its entries add up to ${sum}`)
  }
  if (heldNanos !== entriesHeldNanos) {
    const [said, sum] = [heldNanos, entriesHeldNanos].map(formatNanos)
    found.push(`${said} are held, the entries say ${sum}`)
  }
  if (drawnNanos !== pursesNanos) {
    const [said, sum] = [drawnNanos, pursesNanos].map(formatNanos)
    found.push(`${said} are drawn, the gateways' purses add up to ${sum}`)
  }
  if (balanceNanos - heldNanos - drawnNanos < 0n) found.push('available is below zero')
  return found.map((problem) => ({ account: name, problem }))
}
