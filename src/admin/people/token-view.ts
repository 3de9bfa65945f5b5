// How tokens look from outside: never their secret, at most its first letters.

import type { TokenSpend } from '../../billing/token-spend.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { StoredToken } from '../../store/catalog/tokens.ts'
import { time, timeOrNull } from '../answers.ts'
import type { View } from '../route.ts'
import type { token as tokenSchema } from './token-schema.ts'

/** So much of a secret is kept, to tell it from others. */
export const prefixLength = 8

export const view = (token: StoredToken): View<typeof tokenSchema> => ({
  id: token.id,
  account: token.accountName,
  name: token.name,
  prefix: token.prefix,
  models: token.models,
  limits: token.limits,
  allowed_ips: token.allowedIps,
  translation: token.translation ?? 'on',
  tags: token.tags ?? {},
  expires_at: timeOrNull(token.expiresAtMs),
  disabled: token.disabled,
  source: token.source,
  created_at: time(token.createdAtMs),
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
