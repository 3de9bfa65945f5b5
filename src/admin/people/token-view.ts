// How tokens look from outside: never their secret, at most its first letters.

import type { TokenSpend } from '../../billing/token-spend.ts'
import { dataView } from '../../contract/config-schema/channel/data.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { StoredToken } from '../../store/catalog/tokens.ts'
import type { Tx } from '../../store/index.ts'
import { findBudget } from '../../store/ledger/budgets.ts'
import { time, timeOrNull } from '../answers.ts'
import { budgetOfToken, termsView, viewBudgets } from '../budgets.ts'
import type { View } from '../route.ts'
import type { token as tokenSchema } from './token-schema.ts'

/** So much of a secret is kept, to tell it from others. */
export const prefixLength = 8

/** All but its budget, which changes with every call. */
export const view = (token: StoredToken): Omit<View<typeof tokenSchema>, 'budget'> => ({
  id: token.id,
  account: token.accountName,
  name: token.name,
  prefix: token.prefix,
  models: token.models,
  limits: token.limits,
  allowed_ips: token.allowedIps,
  translation: token.translation ?? 'on',
  tags: token.tags ?? {},
  fallback: token.fallback ?? 'allowed',
  require: dataView(token.require),
  expires_at: timeOrNull(token.expiresAtMs),
  disabled: token.disabled,
  source: token.source,
  created_at: time(token.createdAtMs),
})

/** With what is spent and held of their budgets. */
export async function viewAll(
  engine: Pick<Engine, 'ledger'>,
  tokens: readonly StoredToken[],
): Promise<View<typeof tokenSchema>[]> {
  const budgets = await viewBudgets(engine, tokens.map(budgetOfToken))
  return tokens.map((token, at) => ({ ...view(token), budget: budgets[at]! }))
}

export async function viewOne(
  engine: Pick<Engine, 'ledger'>,
  token: StoredToken,
): Promise<View<typeof tokenSchema>> {
  return (await viewAll(engine, [token]))[0]!
}

/** For the audit log: its settings. */
export const settingsOf = async (tx: Tx, token: StoredToken) => ({
  ...view(token),
  budget: termsView(await findBudget(tx, budgetOfToken(token))),
})

export const spendView = (spend: TokenSpend | undefined) => ({
  spend: formatNanos(spend?.nanos ?? 0n),
  spend_by_day: (spend?.days ?? []).map(({ atMs, nanos }) => ({
    day: time(atMs).slice(0, 10),
    amount: formatNanos(nanos),
  })),
  last_charged_at: timeOrNull(spend?.lastMs),
})

export const fileOwned = (what: string): Refusal =>
  refuse('conflict', `'${what}' is declared in the configuration file; change it there`)
