// What was charged, by the dimensions that are asked for: over all accounts or one, from the hourly
// totals, never from the log.
import {
  manyKeys,
  sumUsage,
  type UsageKey,
  type UsageRow,
} from '../../billing/prices/usage-rows.ts'
import { sumSettledMoney } from '../../billing/proof/settled-sums.ts'
import { Refusal } from '../../contract/errors.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { accountNames } from '../../store/catalog/accounts.ts'
import { hourMs } from '../../store/proof/hourly-totals.ts'
import { time, wrong } from '../answers.ts'
import type { Ask } from '../route.ts'
import { requestRoute } from './requests.ts'
import { usageQuery, usage as usageSchema } from './traffic-schema.ts'

const dayMs = 24 * hourMs
const maxDays = 400
const maxDaysByHour = 31
const maxRows = 20_000

type Given = Ask<{ query: typeof usageQuery }>['query']

async function sum({ engine, query, account, x }: Ask<{ query: typeof usageQuery }>) {
  const by = keysOf(query.by ?? 'day')
  if (by instanceof Refusal) return by
  const stretch = stretchOf(query, by, x.atMs)
  if (stretch instanceof Refusal) return stretch
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
}

function keysOf(text: string): UsageKey[] | Refusal {
  const words = [...new Set(text.split(',').filter((word) => word !== ''))]
  const keys = manyKeys.filter((key) => words.includes(key))
  return keys.length === words.length
    ? (words as UsageKey[])
    : wrong('by', `must be some of ${manyKeys.join(', ')}`)
}

/** The last thirty days unless given; hours are whole. */
function stretchOf(
  { from, to }: Given,
  by: readonly UsageKey[],
  nowMs: number,
): { fromMs: number; untilMs: number } | Refusal {
  const untilMs = Math.ceil((to ?? nowMs) / hourMs) * hourMs
  const fromMs = from === undefined ? untilMs - 30 * dayMs : Math.floor(from / hourMs) * hourMs
  if (untilMs <= fromMs) return wrong('to', "must be after 'from'")
  const days = by.includes('hour') ? maxDaysByHour : maxDays
  return untilMs - fromMs > days * dayMs
    ? wrong('from', `must be within ${days} days of the end`)
    : { fromMs, untilMs }
}

/** Rows know ids; people know names. */
async function named(engine: BaseDeps, rows: readonly UsageRow[], by: readonly UsageKey[]) {
  if (!by.includes('account')) return rows
  const names = await accountNames(engine.store.read)
  return rows.map((row) => ({ ...row, account: names.get(row.account_id ?? '') ?? null }))
}

export const usageRoutes = [
  requestRoute('GET /usage', {
    id: 'getUsageOfAll',
    summary: 'What was charged, by time, model, token, price or account',
    query: usageQuery,
    answer: usageSchema,
    returns: 'Sums, row by row.',
    handle: sum,
  }),
]
