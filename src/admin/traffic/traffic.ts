// How much was asked, how long it took and how it ended, over time.
import { Refusal, refuse } from '../../contract/errors.ts'
import { durationAt } from '../../contract/traffic.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  isOfAccounts,
  maxGroups,
  sumTraffic,
  type TimeDimension,
  type TrafficQuery,
  type TrafficSum,
  timeSpans,
} from '../../store/log/traffic.ts'
import { type AdminDeps, notFound, type Resource, route, time } from '../legacy-route.ts'

const names = ['account', 'model', 'channel', 'interface', 'status', 'error_code'] as const
type Name = (typeof names)[number]
/** What an account's traffic is told apart by; what it was for is on its bills. */
const accountNames: readonly Name[] = ['account', 'status', 'error_code']

const dayMs = 86_400_000
const maxDays = { slot: 8, hour: 100, day: 3_660 } as const

type Read = (name: string) => string | undefined

export const traffic: Resource = (app, deps) => {
  app.get(
    '/traffic',
    route(async ({ query: read }, x) => {
      const query = await queryFrom(read, deps, x.atMs)
      if (query instanceof Refusal) return query
      const traffic = await sumTraffic(deps.engine.store.read, query)
      if (traffic === undefined) {
        const message = `that is more than ${maxGroups} rows; ask for less at once`
        return refuse('invalid_request', message, { param: 'by' })
      }
      return {
        from: time(traffic.fromMs),
        to: time(traffic.untilMs),
        items: traffic.sums.map((sum) => view(sum, query)),
        uncounted_requests: traffic.uncounted,
      }
    }),
  )
}

async function queryFrom(
  read: Read,
  deps: AdminDeps,
  nowMs: number,
): Promise<TrafficQuery | Refusal> {
  const words = (read('by') ?? 'hour').split(',').filter((word) => word !== '')
  const times = words.filter((word): word is TimeDimension => Object.hasOwn(timeSpans, word))
  const by = words.filter((word): word is Name => (names as readonly string[]).includes(word))
  if (times.length > 1 || times.length + by.length < words.length) {
    const known = `one of ${Object.keys(timeSpans).join(', ')} and any of ${names.join(', ')}`
    return refuse('invalid_request', `'by' must be ${known}`, { param: 'by' })
  }
  const where = await whereFrom(read, deps)
  if (where instanceof Refusal) return where
  const span = spanFrom(read, nowMs)
  if (span instanceof Refusal) return span
  const query: TrafficQuery = { ...span, time: times[0], by: [...new Set(by)], where }
  return problemOf(query) ?? query
}

async function whereFrom(read: Read, deps: AdminDeps): Promise<TrafficQuery['where'] | Refusal> {
  const where: TrafficQuery['where'] = {}
  for (const name of names) {
    const value = read(name)
    if (value === undefined) continue
    if (name === 'account') {
      const account = await findAccount(deps.engine.store.read, value)
      if (account === undefined) return notFound('account', value)
      where.account = account.id
    } else if (name !== 'status') {
      where[name] = value.replaceAll('\0', '')
    } else if (/^\d{3}$/.test(value)) {
      where.status = Number(value)
    } else {
      return refuse('invalid_request', "'status' must be an HTTP status", { param: 'status' })
    }
  }
  return where
}

/** The last day unless given. */
function spanFrom(read: Read, nowMs: number): { fromMs: number; untilMs: number } | Refusal {
  const moment = (name: string, otherwise: number): number | Refusal => {
    const text = read(name)
    const ms = text === undefined ? otherwise : Date.parse(text)
    if (!Number.isNaN(ms)) return ms
    return refuse('invalid_request', `'${name}' must be an RFC 3339 time`, { param: name })
  }
  const untilMs = moment('to', nowMs)
  if (untilMs instanceof Refusal) return untilMs
  const fromMs = moment('from', untilMs - dayMs)
  if (fromMs instanceof Refusal) return fromMs
  return { fromMs, untilMs }
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

function view(sum: TrafficSum, query: TrafficQuery): object {
  const { requests, totalMs, firstBytes, firstByteMs, took } = sum
  const average = (ms: number, of: number) => (of === 0 ? null : Math.round(ms / of))
  const share = (part: number) => (isOfAccounts(query) ? null : durationAt(took, part))
  return {
    ...(query.time !== undefined && { [query.time]: time(sum.slotMs ?? 0) }),
    ...Object.fromEntries(
      query.by.map((name, i) => [name === 'account' ? 'account_id' : name, shown(sum.values[i]!)]),
    ),
    requests,
    charge: formatNanos(sum.chargeNanos),
    average_ms: average(totalMs, requests),
    average_first_byte_ms: average(firstByteMs, firstBytes),
    p50_ms: share(0.5),
    p95_ms: share(0.95),
    p99_ms: share(0.99),
  }
}

const shown = (value: string | number): string | number | null => (value === '' ? null : value)
