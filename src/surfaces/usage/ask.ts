// Reads the query of a usage request.
import { type UsageAsk, usageKeys } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { tagKeyAmong } from '../../contract/tags/index.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'

export type Query = (name: string) => string | undefined

export const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', `'${param}' ${message}`, { param })

const hourMs = 3_600_000

const timePattern = /^\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/

/** A day, or a time with its offset from UTC; whole hours, as totals are hourly. */
function hourIn(query: Query, name: 'from' | 'to'): number | undefined | Refusal {
  // A plus sign that was not escaped arrives as a space.
  const text = query(name)?.replace(' ', '+')
  if (text === undefined) return undefined
  const ms = timePattern.test(text) && isDay(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  if (Number.isNaN(ms) || ms < 0 || ms % hourMs !== 0) {
    return wrong(name, 'must be a day (2026-11-15) or a whole hour (2026-11-15T08:00:00Z)')
  }
  return ms
}

/** `Date` turns the 31st of February into March; here it is invalid. */
const isDay = (text: string): boolean =>
  new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(text.slice(8, 10))

function keysIn(query: Query): Pick<UsageAsk, 'by' | 'tagKey'> | Refusal {
  const words = (query('by') ?? 'model').split(',')
  const tagKey = tagKeyAmong(words)
  const keys = words
    .filter((word) => word !== tagKey)
    .map((word) => usageKeys.find((key) => key === word))
  const known = keys.filter((key) => key !== undefined)
  if (known.length < keys.length) {
    const all = `${usageKeys.join(', ')}, end_user, tag:NAME`
    return wrong('by', `must be of ${all}, with commas between them`)
  }
  return { by: [...new Set(known)], tagKey }
}

const defaultRows = 100
const maxOnPage = 1_000

export function pageIn(
  query: Query,
  usual = defaultRows,
): { limit: number; cursor: string | undefined } | Refusal {
  const text = query('limit')
  const limit = text === undefined ? usual : /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxOnPage) {
    return wrong('limit', `must be a whole number from 1 to ${maxOnPage}`)
  }
  return { limit, cursor: query('cursor') }
}

/** By default, this month until now. */
export function usageAsk(query: Query, nowMs: number): UsageAsk | Refusal {
  const [from, to, by, page] = [
    hourIn(query, 'from'),
    hourIn(query, 'to'),
    keysIn(query),
    pageIn(query),
  ]
  for (const part of [from, to, by, page]) if (part instanceof Refusal) return part
  const untilMs = (to as number | undefined) ?? nowMs - (nowMs % hourMs) + hourMs
  const fromMs = (from as number | undefined) ?? monthBounds(monthAt(untilMs - 1))!.fromMs
  if (fromMs >= untilMs) return wrong('from', "must lie before 'to'")
  const scope = query('scope') ?? 'account'
  if (scope !== 'account' && scope !== 'token') return wrong('scope', 'must be account or token')
  return {
    fromMs,
    untilMs,
    ...(by as Pick<UsageAsk, 'by' | 'tagKey'>),
    ownOnly: scope === 'token',
    ...(page as { limit: number; cursor: string | undefined }),
  }
}
