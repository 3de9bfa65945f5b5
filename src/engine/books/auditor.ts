// Verifies every minute the ledger accounts that changed, and suspends an account that does not add
// up. One of several gateways does it. What an audit checks belongs to src/billing.

import type { Problem } from '../../billing/proof/audit.ts'
import {
  type AuditMarks,
  auditRecent,
  noMarks,
  type RecentAudit,
} from '../../billing/proof/audit-recent.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import { readBooksEnd, takeAuditLock } from '../../store/proof/audit-recent.ts'
import { getMeta, setMeta } from '../../store/sql/meta.ts'
import type { Engine } from '../engine.ts'
import { auditOptions, sentenceOf, suspendAccounts } from './suspended-accounts.ts'

interface AuditorLimits {
  everyMs: number
  /** A problem is checked again after this, before the account is suspended. */
  secondPollMs: number
  /** Between pages, so that callers are served first. */
  pauseMs: number
}

const auditorLimits: AuditorLimits = { everyMs: 60_000, secondPollMs: 1_000, pauseMs: 10 }

const marksKey = 'audit_marks'

export class Auditor {
  readonly #limits: AuditorLimits
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<unknown> | undefined
  #closed = false
  /** The end of the ledger at the last audit, and how many audits it has been unchanged. */
  #lastEnd = ''
  #idle = 0

  constructor(limits: AuditorLimits = auditorLimits) {
    this.#limits = limits
  }

  start(engine: Engine): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.#running = this.#turn(engine).finally(() => this.start(engine))
    }, this.#limits.everyMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #turn(engine: Engine): Promise<void> {
    try {
      if (await this.#isIdle(engine)) return
      const everyMs = this.#limits.everyMs * turnShare
      const nowMs = engine.clock.nowMs()
      if (await engine.store.tx((tx) => takeAuditLock(tx, { nowMs, everyMs }))) {
        await this.poll(engine)
      }
    } catch (error) {
      engine.log.warn('ledger audit could not run', { error })
    }
  }

  /** An unchanged ledger is still verified now and then: it may have been edited directly. */
  async #isIdle({ store }: Engine): Promise<boolean> {
    const end = JSON.stringify(await readBooksEnd(store.read))
    this.#idle = end === this.#lastEnd ? this.#idle + 1 : 0
    this.#lastEnd = end
    return this.#idle % idleTurns !== 0
  }

  /** One audit of what came since the last one; returns problems that were found twice. */
  async poll(engine: Engine): Promise<readonly Problem[]> {
    const before = await readMarks(engine)
    const first = await this.#audit(engine, before)
    const problems = first.problems.length === 0 ? [] : await this.#again(engine, before, first)
    await alertGuards(engine, problems)
    const own = problems.filter(({ account_id }) => account_id !== undefined)
    if (own.length > 0) await suspendAccounts(engine, own)
    const text = JSON.stringify(first.marks)
    if (text !== JSON.stringify(before)) {
      await engine.store.tx((tx) => setMeta(tx, marksKey, text))
    }
    return problems
  }

  /** A false alarm would suspend a customer, so the problem must show up in a second audit too. */
  async #again(engine: Engine, before: AuditMarks, first: RecentAudit): Promise<Problem[]> {
    await new Promise((go) => setTimeout(go, this.#limits.secondPollMs))
    const second = await this.#audit(engine, before)
    const accounts = new Set(second.problems.map(({ account_id }) => account_id))
    return first.problems.filter(({ account_id }) => accounts.has(account_id))
  }

  #audit(engine: Engine, marks: AuditMarks): Promise<RecentAudit> {
    const { pauseMs } = this.#limits
    const pause = () => new Promise<void>((go) => setTimeout(go, pauseMs))
    return auditRecent(engine.store, marks, { ...auditOptions(engine), pause })
  }
}

/** Without changes, one audit in this many runs. */
const idleTurns = 10
/** Share of the interval after which the next gateway may audit. */
const turnShare = 0.9

async function readMarks({ store }: Engine): Promise<AuditMarks> {
  const text = await getMeta(store.read, marksKey)
  return text === undefined ? noMarks : (JSON.parse(text) as AuditMarks)
}

/** Write protection belongs to no account: none is suspended, and an alert asks for action. */
async function alertGuards(engine: Engine, problems: readonly Problem[]): Promise<void> {
  const { store, clock, log } = engine
  const missing = problems.filter(({ check }) => check === 'guards')
  const alert = { kind: 'guards', subject: 'entries', atMs: clock.nowMs() }
  if (missing.length === 0) return
  const message = missing.map(sentenceOf).join('; ')
  log.error('ledger write protection missing', { problem: message })
  await store.tx((tx) => raiseAlert(tx, { ...alert, message }))
}
