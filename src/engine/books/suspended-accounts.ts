// Suspended accounts, for which nothing billable is done because their ledger does not add up:
// suspends them, and resumes them after a clean audit or by an administrator's decision.
import { type AuditOptions, auditBooks, type Problem } from '../../billing/proof/audit.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { Tx } from '../../store/index.ts'
import { letAccountGoOn, suspendAccount } from '../../store/ledger/suspended-accounts.ts'
import { announce, type CatalogDeps, noTokens } from '../catalog/refresh.ts'
import { taskTimeoutsOf } from '../tasks/poll/task-timeouts.ts'
import { type BooksDeps, billDeps } from './bill-deps.ts'

export type SuspensionDeps = BooksDeps &
  CatalogDeps & { readonly jobs: { readonly notices: { wake(): void } } }

/** What an audit needs from this gateway. */
export const auditOptions = (deps: SuspensionDeps): AuditOptions => ({
  knows: billDeps(deps).signer.knows,
  taskLifetimeMs: taskTimeoutsOf(deps).lifetimeMs,
  nowMs: deps.clock.nowMs(),
})

/** Maximum length of a problem's text. */
export function sentenceOf({ problem, entry, number, ref }: Problem): string {
  const where = [
    entry !== undefined && `entry ${entry}`,
    number !== undefined && `receipt ${number}`,
    ref,
  ].filter((part) => typeof part === 'string')
  return where.length === 0 ? problem : `${where.join(', ')}: ${problem}`
}

/** In force here when this resolves, at the other gateways shortly after. */
export async function suspendAccounts(
  deps: SuspensionDeps,
  problems: readonly Problem[],
): Promise<void> {
  const atMs = deps.clock.nowMs()
  const byAccount = Map.groupBy(problems, ({ account_id = '' }) => account_id)
  for (const [accountId, found] of byAccount) {
    const message = sentenceOf(found[0]!)
    const more = found.length === 1 ? {} : { problems: found.length }
    deps.log.error('account suspended: its ledger does not add up', {
      account_id: accountId,
      problem: message,
      ...more,
    })
    await deps.store.tx(async (tx) => {
      await suspendAccount(tx, accountId, atMs)
      const alert = { kind: 'books', subject: accountId, message, atMs, isLasting: true } as const
      const { times } = await raiseAlert(tx, alert)
      if (times === 1) await notifyProblem(tx, accountId, atMs)
    })
  }
  deps.jobs.notices.wake()
  await announce(deps, noTokens)
}

/** Once, until the alert is resolved. */
async function notifyProblem(tx: Tx, accountId: string, atMs: number): Promise<void> {
  const account = (await findAccount(tx, accountId))?.name ?? accountId
  await notify(tx, { type: 'ledger.problem', atMs, data: { account } })
}

export interface Lift {
  accountId: string
  atMs: number
  /** Resumes it although its ledger may not add up. */
  force: boolean
  /** Who decides. */
  by?: string | undefined
}

/** Undefined when the account is resumed; else what is still wrong with its ledger. */
export async function liftSuspension(
  deps: SuspensionDeps,
  { accountId, force, atMs, by }: Lift,
  alongside: (tx: Tx) => Promise<void>,
): Promise<string | undefined> {
  if (!force) {
    const { problems } = await auditBooks(deps.store, { ...auditOptions(deps), accountId })
    const own = problems.find(({ account_id }) => account_id === accountId)
    if (own !== undefined) return sentenceOf(own)
  }
  await deps.store.tx(async (tx) => {
    await letAccountGoOn(tx, accountId)
    if (await resolveAlerts(tx, 'books', accountId, atMs, by)) await alongside(tx)
  })
  await announce(deps, noTokens)
  return undefined
}
