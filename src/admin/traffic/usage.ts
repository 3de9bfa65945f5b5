// What was charged, by the dimensions that are asked for: over all accounts or one, from the daily and
// hourly totals, never from the log.
import { maxSums } from '../../billing/prices/bounded-sums.ts'
import { sumTaggedUsage, untaggedKeys } from '../../billing/prices/tagged-usage.ts'
import {
  dimensions,
  manyKeys,
  sumUsage,
  type UsageKey,
  type UsageQuestion,
  type UsageRow,
} from '../../billing/prices/usage-rows.ts'
import { sumHours } from '../../billing/proof/settled-hours.ts'
import { Refusal } from '../../contract/errors.ts'
import { tagKeyAmong } from '../../contract/tags/index.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { monthAt } from '../../lib/text/month.ts'
import { accountNames } from '../../store/catalog/accounts.ts'
import { inSnapshot } from '../../store/index.ts'
import { hourMs } from '../../store/proof/grains.ts'
import { countModels } from '../../store/proof/top-names.ts'
import { sumDays, sumMoney } from '../../store/proof/totals.ts'
import { channelDimensions, sumWork } from '../../store/proof/work-sums.ts'
import { time, wrong } from '../answers.ts'
import type { Ask } from '../route.ts'
import { requestRoute } from './requests.ts'
import { usageQuery, usage as usageSchema } from './traffic-schema.ts'

const dayMs = 24 * hourMs
const maxDays = 400
const maxDaysByHour = 31

type Given = Ask<{ query: typeof usageQuery }>['query']

async function sum({ engine, query, account, x, viewer }: Ask<{ query: typeof usageQuery }>) {
  const words = [...new Set((query.by ?? 'day').split(',').filter((word) => word !== ''))]
  const tagKey = tagKeyAmong(words)
  const isMember = viewer?.role === 'member'
  const by = keysOf(
    words.filter((word) => word !== tagKey),
    isMember,
  )
  if (by instanceof Refusal) return by
  if (tagKey !== undefined && by.some((key) => untaggedKeys.includes(key))) {
    return wrong('by', `cannot have ${untaggedKeys.join(' or ')} beside a tag or end_user`)
  }
  const besideChannel = by.includes('channel') ? by.filter(isNotByChannel) : []
  if (besideChannel.length > 0) {
    return wrong('by', `cannot have ${besideChannel.join(' or ')} beside channel`)
  }
  const stretch = stretchOf(query, by, x.atMs)
  if (stretch instanceof Refusal) return stretch
  const asked = { ...stretch, by, accountId: account?.id, withCosts: !isMember }
  const { read } = engine.store
  const { rows, total } =
    tagKey === undefined
      ? await sumUsage(read, asked, await sumFor(engine, asked))
      : await inSnapshot(engine.store, (db) => sumTaggedUsage(db, { ...asked, tagKey }))
  return {
    from: time(stretch.fromMs),
    to: time(stretch.untilMs),
    by: words,
    currency: engine.declared.file.currency,
    total,
    items: await named(engine, rows, by),
  }
}

const isNotByChannel = (key: UsageKey): boolean =>
  key === 'hour' || !channelDimensions.includes(dimensions[key])

/**
 * By channel, and over all accounts, from the totals of work, but by time and account, which days have fewer rows of. By
 * the hour from the cache where that gives few sums: what it has is not bounded.
 */
async function sumFor(
  { store }: BaseDeps,
  { by, accountId, fromMs, untilMs }: UsageQuestion,
): Promise<typeof sumMoney> {
  if (!by.includes('hour')) {
    const isByTime = by.includes('day') || by.includes('month')
    const isOfDays = accountId !== undefined || (isByTime && by.includes('account'))
    if (by.includes('channel') || !isOfDays) return sumWork
    return (db, asked) => (asked.kept?.account === undefined ? sumDays : sumWork)(db, asked)
  }
  if (by.some((key) => key !== 'hour' && key !== 'model' && key !== 'unit')) return sumMoney
  const months = { first: monthAt(fromMs), last: monthAt(untilMs) }
  const models = by.includes('model') ? await countModels(store.read, accountId, months) : 1
  return (models * (untilMs - fromMs)) / hourMs > maxSums ? sumMoney : sumHours
}

/** Members do not learn of channels. */
function keysOf(words: readonly string[], isMember: boolean): UsageKey[] | Refusal {
  const known = isMember ? manyKeys.filter((key) => key !== 'channel') : manyKeys
  const keys = known.filter((key) => words.includes(key))
  return keys.length === words.length
    ? (words as UsageKey[])
    : wrong('by', `must be some of ${known.join(', ')} and one of end_user or tag:NAME`)
}

/** The last thirty days unless given; hours are whole, by channel days. */
function stretchOf(
  { from, to }: Given,
  by: readonly UsageKey[],
  nowMs: number,
): { fromMs: number; untilMs: number } | Refusal {
  const stepMs = by.includes('channel') ? dayMs : hourMs
  const untilMs = Math.ceil((to ?? nowMs) / stepMs) * stepMs
  const fromMs = from === undefined ? untilMs - 30 * dayMs : Math.floor(from / stepMs) * stepMs
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
  return rows.map((row) => ({
    ...row,
    account: names.get(row.account_id ?? '') ?? (row.account_id === 'other' ? 'other' : null),
  }))
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
