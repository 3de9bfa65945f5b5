// What was charged, by whatever one wants to see it by: over all accounts or one, from the hours of
// money, never from the log.

import {
  manyKeys,
  sumUsage,
  type UsageKey,
  type UsageRow,
} from '../../billing/prices/usage-rows.ts'
import { sumSettledMoney } from '../../billing/proof/settled-sums.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import { accountNames, findAccount } from '../../store/catalog/accounts.ts'
import { hourMs } from '../../store/proof/hourly-totals.ts'
import { notFound, type Resource, route, time } from '../legacy-route.ts'

const dayMs = 24 * hourMs
/** The longest stretch, and the longest by the hour. */
const max = { days: 400, daysByHour: 31 }
const maxRows = 20_000

type Read = (name: string) => string | undefined

export const usage: Resource = (app, { engine }) => {
  app.get(
    '/usage',
    route(async ({ query }, x) => {
      const by = keysOf(query('by') ?? 'day')
      if (by instanceof Refusal) return by
      const stretch = stretchOf(query, by, x.atMs)
      if (stretch instanceof Refusal) return stretch
      const wanted = query('account')
      const account =
        wanted === undefined ? undefined : await findAccount(engine.store.read, wanted)
      if (wanted !== undefined && account === undefined) return notFound('account', wanted)
      const asked = { ...stretch, by, accountId: account?.id }
      const { rows, total } = await sumUsage(engine.store.read, asked, sumSettledMoney)
      if (rows.length > maxRows) {
        return wrong('by', `gives more than ${maxRows} rows: ask for a shorter time, or by less`)
      }
      return {
        from: time(stretch.fromMs),
        to: time(stretch.untilMs),
        by,
        currency: engine.declared.file.currency,
        total,
        items: await named(engine, rows, by),
      }
    }),
  )
}

const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', `'${param}' ${message}`, { param })

function keysOf(text: string): UsageKey[] | Refusal {
  const words = [...new Set(text.split(',').filter((word) => word !== ''))]
  const keys = manyKeys.filter((key) => words.includes(key))
  return keys.length === words.length
    ? (words as UsageKey[])
    : wrong('by', `must be some of ${manyKeys.join(', ')}`)
}

/** The last thirty days unless given; hours are whole. */
function stretchOf(
  read: Read,
  by: readonly UsageKey[],
  nowMs: number,
): { fromMs: number; untilMs: number } | Refusal {
  const untilMs =
    Math.ceil(Date.parse(read('to') ?? new Date(nowMs).toISOString()) / hourMs) * hourMs
  if (Number.isNaN(untilMs)) return wrong('to', 'must be an RFC 3339 time')
  const from = read('from')
  const fromMs =
    from === undefined ? untilMs - 30 * dayMs : Math.floor(Date.parse(from) / hourMs) * hourMs
  if (Number.isNaN(fromMs)) return wrong('from', 'must be an RFC 3339 time')
  if (untilMs <= fromMs) return wrong('to', "must be after 'from'")
  const days = by.includes('hour') ? max.daysByHour : max.days
  if (untilMs - fromMs > days * dayMs)
    return wrong('from', `must be within ${days} days of the end`)
  return { fromMs, untilMs }
}

/** Rows know ids; people know names. */
async function named(engine: Engine, rows: readonly UsageRow[], by: readonly UsageKey[]) {
  if (!by.includes('account')) return rows
  const names = await accountNames(engine.store.read)
  return rows.map((row) => ({ ...row, account: names.get(row.account_id ?? '') ?? null }))
}
