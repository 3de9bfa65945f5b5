// Verifies every minute the ledger accounts that changed, and suspends an account that does not add
// up. One of several gateways does it. What an audit checks belongs to src/billing.

import type { Problem } from '../../billing/proof/audit.ts'
import {
  type AuditMarks,
  auditRecent,
  noMarks,
  type RecentAudit,
} from '../../billing/proof/audit-recent.ts'
import { LoopService } from '../../lib/loop.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import type { Store } from '../../store/index.ts'
import { readBooksEnd, takeAuditLock } from '../../store/proof/audit-recent.ts'
import { getMeta, setMeta } from '../../store/sql/meta.ts'
import {
  auditOptions,
  type SuspensionDeps,
  sentenceOf,
  suspendAccounts,
} from './suspended-accounts.ts'

interface AuditorLimits {
  everyMs: number
  /** A problem is checked again after this, before the account is suspended. */
  secondPollMs: number
  /** Between pages, so that callers are served first. */
  pauseMs: number
}

const auditorLimits: AuditorLimits = { everyMs: 60_000, secondPollMs: 1_000, pauseMs: 10 }

const marksKey = 'audit_marks'

export class Auditor extends LoopService {
  readonly #deps: SuspensionDeps
  readonly #limits: AuditorLimits
  /** The end of the ledger at the last audit, and how many audits it has been unchanged. */
  #lastEnd = ''
  #idle = 0

  constructor(deps: SuspensionDeps, limits: AuditorLimits = auditorLimits) {
    const { everyMs } = limits
    const failure = 'ledger audit could not run'
    super({ name: 'auditor', everyMs, firstMs: everyMs, log: deps.log, failure })
    this.#deps = deps
    this.#limits = limits
  }

  protected override async run(): Promise<void> {
    const { store, clock } = this.#deps
    if (await this.#isIdle()) return
    const turn = { nowMs: clock.nowMs(), everyMs: this.#limits.everyMs * turnShare }
    if (await store.tx((tx) => takeAuditLock(tx, turn))) await this.poll()
  }

  /** An unchanged ledger is still verified now and then: it may have been edited directly. */
  async #isIdle(): Promise<boolean> {
    const end = JSON.stringify(await readBooksEnd(this.#deps.store.read))
    this.#idle = end === this.#lastEnd ? this.#idle + 1 : 0
    this.#lastEnd = end
    return this.#idle % idleTurns !== 0
  }

  /** One audit of what came since the last one; returns problems that were found twice. */
  async poll(): Promise<readonly Problem[]> {
    const { store } = this.#deps
    const before = await readMarks(store)
    const first = await this.#audit(before)
    const problems = first.problems.length === 0 ? [] : await this.#again(before, first)
    await alertGuards(this.#deps, problems)
    const own = problems.filter(({ account_id }) => account_id !== undefined)
    if (own.length > 0) await suspendAccounts(this.#deps, own)
    const text = JSON.stringify(first.marks)
    if (text !== JSON.stringify(before)) await store.tx((tx) => setMeta(tx, marksKey, text))
    return problems
  }

  /** A false alarm would suspend a customer, so the problem must show up in a second audit too. */
  async #again(before: AuditMarks, first: RecentAudit): Promise<Problem[]> {
    await pause(this.#limits.secondPollMs)
    const second = await this.#audit(before)
    const accounts = new Set(second.problems.map(({ account_id }) => account_id))
    return first.problems.filter(({ account_id }) => accounts.has(account_id))
  }

  #audit(marks: AuditMarks): Promise<RecentAudit> {
    const options = { ...auditOptions(this.#deps), pause: () => pause(this.#limits.pauseMs) }
    return auditRecent(this.#deps.store, marks, options)
  }
}

const pause = (ms: number) => new Promise<void>((go) => setTimeout(go, ms))

/** Without changes, one audit in this many runs. */
const idleTurns = 10
/** Share of the interval after which the next gateway may audit. */
const turnShare = 0.9

async function readMarks(store: Store): Promise<AuditMarks> {
  const text = await getMeta(store.read, marksKey)
  return text === undefined ? noMarks : (JSON.parse(text) as AuditMarks)
}

/** Write protection belongs to no account: none is suspended, and an alert asks for action. */
async function alertGuards(
  { store, clock, log }: SuspensionDeps,
  problems: readonly Problem[],
): Promise<void> {
  const missing = problems.filter(({ check }) => check === 'guards')
  const alert = {
    kind: 'guards',
    subject: 'entries',
    atMs: clock.nowMs(),
    isLasting: true as const,
  }
  if (missing.length === 0) return
  const message = missing.map(sentenceOf).join('; ')
  log.error('ledger write protection missing', { problem: message })
  await store.tx((tx) => raiseAlert(tx, { ...alert, message }))
}
