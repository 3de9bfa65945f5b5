// A change of an account's settings, recorded in the audit log. What the configuration file says of an
// account is changed there; what it does not say can be changed here.
import type { z } from 'zod'
import {
  accountSettingsFrom,
  usualTokenLimit,
} from '../../contract/config-schema/account-settings.ts'
import { dataView } from '../../contract/config-schema/channel/data.ts'
import { profileNames, profileOf } from '../../contract/config-schema/profile-fields.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Viewer } from '../../contract/people.ts'
import { setAccountBudgets } from '../../engine/catalog/account-budgets.ts'
import { announce, noTokens, tokensOf } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { type Account, findAccount, updateAccount } from '../../store/catalog/accounts.ts'
import type { Tx } from '../../store/index.ts'
import { findBudget, listTagBudgets } from '../../store/ledger/budgets.ts'
import { auditChange } from '../answers.ts'
import { budgetOfAccount, termsView } from '../budgets.ts'
import type { accountChange } from './account-schema.ts'

type Change = z.infer<typeof accountChange>

export async function changeAccount(
  engine: Engine,
  x: RequestContext,
  { id: subject, name }: Account,
  body: Change,
): Promise<Refusal | undefined> {
  const owned = declaredField(engine, name, body)
  if (owned !== undefined) {
    const message = `'${owned}' of '${name}' is declared in the configuration file; change it there`
    return refuse('conflict', message, { param: owned })
  }
  await engine.store.tx(async (tx) => {
    const before = await settingsOf(tx, (await findAccount(tx, subject))!)
    await updateAccount(tx, subject, accountSettingsFrom(body))
    await setAccountBudgets(tx, subject, body, 'api')
    const after = await settingsOf(tx, (await findAccount(tx, subject))!)
    await auditChange(tx, x, { action: 'account.update', subject, before, after })
  })
  // Its tokens have them too.
  const { tag_names: names, end_users: mode, require: policy } = body
  const isOfTokens = [names, mode, policy].some((each) => each !== undefined)
  await announce(engine, isOfTokens ? await tokensOf(engine, subject) : noTokens)
  return undefined
}

/** They make the bills, so they correct who is on them. */
export function notForFinance(viewer: Viewer | undefined, body: Change): Refusal | undefined {
  if (viewer?.role !== 'finance') return undefined
  const ofProfile: readonly string[] = profileNames
  const param = Object.keys(body).find((field) => !ofProfile.includes(field))
  if (param === undefined) return undefined
  return refuse('not_permitted', `your role (finance) may not change '${param}'`, { param })
}

/** A field of the change that the file declares of this account. */
function declaredField({ declared }: Engine, name: string, body: Change): keyof Change | undefined {
  const said = declared.file.accounts.find((account) => account.name === name)
  return (Object.keys(body) as (keyof Change)[]).find((field) => said?.[field] !== undefined)
}

/** The settings that are columns of the account, as the admin API shows them. */
export const settingsView = (account: Account) => ({
  ...profileOf((name) => account.profile[name] ?? null),
  balance_low: account.balanceLowNanos === undefined ? null : formatNanos(account.balanceLowNanos),
  tag_names: account.tagNames ?? [],
  end_users: account.endUsers ?? ('hashed' as const),
  token_limit: account.tokenLimit ?? usualTokenLimit,
  require: dataView(account.require),
})

const settingsOf = async (tx: Tx, account: Account) => ({
  ...settingsView(account),
  budget: termsView(await findBudget(tx, budgetOfAccount(account.id))),
  tag_budgets: (await listTagBudgets(tx, account.id)).map((budget) => ({
    tag: budget.subject,
    ...termsView(budget),
  })),
})
