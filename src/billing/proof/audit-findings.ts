// Results of an audit: each check by name, and each problem with its location. Inspects nothing
// itself.
import type { Mismatch } from '../../store/proof/audit.ts'

/**
 * Every check by name, with the invariants it proves:
 * I1 every entry is a transfer. I2 a balance is the sum of its entries. I3 never below zero. I4 one
 * charge for one request or task. I5 a charge takes. I6 a charge for every success, and for nothing
 * else. I7 a hold ends in time. I8 nothing was changed or taken out. I9 price times quantity is the
 * amount. I10 what gateways spend by themselves is the account's. I12 one id everywhere.
 */
export const checks = {
  transfers: ['I1', 'I5'],
  balances: ['I2'],
  never_below_zero: ['I3'],
  charged_once: ['I4'],
  charges_and_requests: ['I6', 'I12'],
  charges_and_tasks: ['I6', 'I12'],
  holds: ['I2', 'I7'],
  receipts: ['I8'],
  seals: ['I8'],
  closed_months: ['I8'],
  sums_by_hour: ['I8'],
  guards: ['I8'],
  amounts: ['I9'],
  credit_leases: ['I10'],
} as const satisfies Record<string, readonly string[]>

export type CheckName = keyof typeof checks

export interface Problem {
  check: CheckName
  /** By name, if known. */
  account?: string
  account_id?: string
  /** Id of the entry, and the number of its receipt. */
  entry?: number
  number?: number
  ref?: string
  problem: string
}

/** Enough of each to see what is wrong; the rest is the same again. */
export const maxOfEach = 100
const maxInAll = 5_000

/** Collects problems, bounded per check, and reports the result of each check. */
export class Findings {
  readonly #problems: Problem[] = []
  readonly #counts = new Map<CheckName, number>()
  readonly #seen = new Set<string>()

  add(check: CheckName, found: Mismatch & { number?: number | undefined }): void {
    const count = (this.#counts.get(check) ?? 0) + 1
    this.#counts.set(check, count)
    // One account with many problems must not hide those of others.
    const isFirst = !this.#seen.has(`${check} ${found.accountId}`)
    if (count > maxOfEach && !isFirst) return
    if (this.#problems.length >= maxInAll) return
    this.#seen.add(`${check} ${found.accountId}`)
    const { accountId, entryId, number, ref, problem } = found
    this.#problems.push({
      check,
      ...(accountId !== '' && { account_id: accountId }),
      ...(entryId !== undefined && { entry: entryId }),
      ...(number !== undefined && { number }),
      ...(ref !== undefined && { ref }),
      problem,
    })
  }

  addAll(check: CheckName, found: readonly Mismatch[]): void {
    for (const each of found) this.add(check, each)
  }

  /** Earliest first within an account: later ones may only follow from it. */
  problems(nameOf: (accountId: string) => string | undefined): Problem[] {
    return this.#problems
      .map((problem) => {
        const account = problem.account_id && nameOf(problem.account_id)
        return account === undefined ? problem : { ...problem, account }
      })
      .sort((a, b) => order(a, b))
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0
  }

  outcomes(): { check: CheckName; proves: readonly string[]; problems: number }[] {
    return (Object.keys(checks) as CheckName[]).map((check) => ({
      check,
      proves: checks[check],
      problems: this.#counts.get(check) ?? 0,
    }))
  }
}

function order(a: Problem, b: Problem): number {
  const [left, right] = [a.account_id ?? '', b.account_id ?? '']
  if (left !== right) return left < right ? -1 : 1
  return (a.entry ?? Number.MAX_SAFE_INTEGER) - (b.entry ?? Number.MAX_SAFE_INTEGER)
}
