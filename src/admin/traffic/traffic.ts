// How much was asked, how long it took and how it ended, over time.
import { Refusal, refuse } from '../../contract/errors.ts'
import { shownName } from '../../contract/totals.ts'
import { durationAt, statusRange } from '../../contract/traffic.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { mapInTurns } from '../../lib/turns.ts'
import {
  isOfAccounts,
  maxGroups,
  sumTraffic,
  type TimeDimension,
  type TrafficQuery,
  timeSpans,
} from '../../store/log/traffic.ts'
import { time } from '../answers.ts'
import type { Ask, View } from '../route.ts'
import { type CountedSum, withFailedAttempts } from './failed-attempts.ts'
import { requestRoute } from './requests.ts'
import { trafficQuery, type trafficRow, traffic as trafficSchema } from './traffic-schema.ts'

const names = ['account', 'model', 'channel', 'interface', 'status', 'error_code'] as const
type Name = (typeof names)[number]
/** What an account's traffic is told apart by; what it was for is on its bills. */
const accountNames: readonly Name[] = ['account', 'status', 'error_code']

const dayMs = 86_400_000
const maxDays = { slot: 8, hour: 100, day: 3_660 } as const

async function sum({ engine, query: given, account, x }: Ask<{ query: typeof trafficQuery }>) {
  const query = queryFrom(given, account?.id, x.atMs)
  if (query instanceof Refusal) return query
  const traffic = await sumTraffic(engine.store.read, query)
  if (traffic === undefined) {
    const message = `that is more than ${maxGroups} rows; ask for less at once`
    return refuse('invalid_request', message, { param: 'by' })
  }
  const sums = await withFailedAttempts(engine.store.read, query, traffic)
  return {
    from: time(traffic.fromMs),
    to: time(traffic.untilMs),
    items: await mapInTurns(sums, (each) => view(each, query)),
    uncounted_requests: traffic.uncounted,
  }
}

type Given = Ask<{ query: typeof trafficQuery }>['query']

/** The last day unless given. */
function queryFrom(
  given: Given,
  account: string | undefined,
  nowMs: number,
): TrafficQuery | Refusal {
  const words = (given.by ?? 'hour').split(',').filter((word) => word !== '')
  const times = words.filter((word): word is TimeDimension => Object.hasOwn(timeSpans, word))
  const by = words.filter((word): word is Name => (names as readonly string[]).includes(word))
  if (times.length > 1 || times.length + by.length < words.length) {
    const known = `one of ${Object.keys(timeSpans).join(', ')} and any of ${names.join(', ')}`
    return refuse('invalid_request', `'by' must be ${known}`, { param: 'by' })
  }
  const { to: untilMs = nowMs, from: fromMs = untilMs - dayMs } = given
  const where = whereFrom(given, account)
  const query = { fromMs, untilMs, time: times[0], by: [...new Set(by)], where }
  return problemOf(query) ?? query
}

function whereFrom(given: Given, account: string | undefined): TrafficQuery['where'] {
  const where: TrafficQuery['where'] = account === undefined ? {} : { account }
  if (given.status !== undefined) where.status = statusRange(given.status)
  for (const name of ['model', 'channel', 'interface', 'error_code'] as const) {
    const value = given[name]
    if (value !== undefined) where[name] = value.replaceAll('\0', '')
  }
  return where
}

function problemOf(query: TrafficQuery): Refusal | undefined {
  const { fromMs, untilMs, time = 'day', by, where } = query
  const wrong = (param: string, message: string) => refuse('invalid_request', message, { param })
  if (untilMs <= fromMs) return wrong('to', "'to' must be after 'from'")
  if (untilMs - fromMs > maxDays[time] * dayMs) {
    return wrong('from', `by ${time}, at most ${maxDays[time]} days at once`)
  }
  if (!isOfAccounts(query)) return undefined
  if (time === 'slot') return wrong('by', 'traffic of accounts is kept by hour and day')
  const others = [...by, ...(Object.keys(where) as Name[])].filter(
    (name) => !accountNames.includes(name),
  )
  if (others.length === 0) return undefined
  return wrong(others[0]!, `traffic of accounts is told apart by ${accountNames.join(', ')} only`)
}

function view(sum: CountedSum, query: TrafficQuery): View<typeof trafficRow> {
  const { requests, totalMs, firstBytes, firstByteMs, took } = sum
  const average = (ms: number, of: number) => (of === 0 ? null : Math.round(ms / of))
  const share = (part: number) => (isOfAccounts(query) ? null : durationAt(took, part))
  return {
    ...(query.time !== undefined && { [query.time]: time(sum.slotMs ?? 0) }),
    ...Object.fromEntries(
      query.by.map((name, i) => [name === 'account' ? 'account_id' : name, shown(sum.values[i]!)]),
    ),
    requests,
    retries: sum.retries,
    ...(sum.failedAttempts !== undefined && { failed_attempts: sum.failedAttempts }),
    charge: formatNanos(sum.chargeNanos),
    input_tokens: sum.inputTokens,
    cache_read_tokens: sum.cacheReadTokens,
    average_ms: average(totalMs, requests),
    average_first_byte_ms: average(firstByteMs, firstBytes),
    p50_ms: share(0.5),
    p95_ms: share(0.95),
    p99_ms: share(0.99),
  }
}

const shown = (value: string | number): string | number | null =>
  value === '' ? null : typeof value === 'string' ? shownName(value) : value

export const trafficRoutes = [
  requestRoute('GET /traffic', {
    id: 'getTraffic',
    summary: 'How many requests there were, how long they took and how they ended',
    query: trafficQuery,
    answer: trafficSchema,
    returns: 'Row by row.',
    handle: sum,
  }),
]
