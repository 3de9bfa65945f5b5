// Queries of the admin API: every list, by every filter and by pairs of filters, from the first page, from
// the middle and the pages after it. Refuses to know how long anything takes.
import { cursorAt } from '../../src/store/sql/cursor.ts'
import { accounts, type Filling, names } from './fill.ts'

export interface ListQuery {
  list: string
  path: string
  /** Pages to read. */
  pages: number
}

const dayMs = 86_400_000
const time = (ms: number) => new Date(ms).toISOString()

type Query = Readonly<Record<string, string | number | undefined>>

const pathOf = (path: string, query: Query): string => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(
    Object.fromEntries(pairs.map(([name, value]) => [name, String(value)])),
  )
  return pairs.length === 0 ? path : `${path}?${text}`
}

/** Common, rare and absent values. */
const singleFilters: Query[] = [
  {},
  { account: names.account(3) },
  { account: names.account(accounts - 1) },
  { account: names.rareAccount },
  { token: names.token(12) },
  { token: 'tok_never' },
  { model: names.model(5) },
  { model: names.rareModel },
  { model: 'never' },
  { channel: names.channel(5) },
  { channel: 'never' },
  { status: 200 },
  { status: 504 },
  { status: 418 },
  { error_code: 'rate_limit_exceeded' },
  { error_code: names.rareError },
  { error_code: 'never' },
  { tag: names.team },
  { tag: names.job },
  { tag: 'team=never' },
  { end_user: names.endUser },
  { end_user: 'never' },
]

/** Values that are common alone and rare or absent together. */
function combinedFilters({ untilMs, days }: Filling): Query[] {
  const busy = { account: names.account(3), token: names.token(12) }
  const model = names.model(5)
  const middle = untilMs - (days / 2) * dayMs
  return [
    { channel: names.channel(5), model: names.model(0) },
    { account: busy.account, token: names.token(40) },
    { status: 200, error_code: 'upstream_error' },
    { account: busy.account, status: 502 },
    { model, channel: names.channel(0), status: 504 },
    { account: busy.account, token: busy.token, model, status: 200, channel: names.channel(0) },
    { ...busy, model, channel: names.channel(0), status: 502, error_code: 'upstream_error' },
    { ...busy, model, channel: names.channel(5), status: 200, error_code: 'never' },
    { tag: names.team, account: busy.account },
    { tag: names.team, model, status: 504 },
    { from: time(untilMs - 3_600_000) },
    { to: time(untilMs - days * dayMs) },
    { from: time(middle), to: time(middle + 60_000) },
    { from: time(middle), to: time(middle + dayMs), ...busy },
    { from: time(middle), to: time(middle + dayMs), model: names.rareModel },
    { from: time(untilMs - days * dayMs), to: time(middle), status: 504, model },
  ]
}

const requestLists = (filling: Filling): ListQuery[] =>
  [...singleFilters, ...combinedFilters(filling)].flatMap((query) => [
    { list: 'requests', path: pathOf('/requests', query), pages: 4 },
    ...[0.97, 0.5, 0.03].map((depth) => {
      const cursor = cursorAt(Math.floor(filling.rows * depth))
      return { list: 'requests', path: pathOf('/requests', { ...query, cursor }), pages: 2 }
    }),
    { list: 'requests', path: pathOf('/requests', { ...query, limit: 500 }), pages: 1 },
  ])

function taskLists({ untilMs, days }: Filling): ListQuery[] {
  const one: Query[] = [
    {},
    { account: names.account(3) },
    { account: names.account(accounts - 1) },
    { model: 'video-1' },
    { model: 'never' },
    { state: 'unknown' },
    { state: 'running' },
    { channel: 'video-channel-1' },
    { interface: 'videos' },
    { interface: 'images' },
    { channel: 'video-channel-0', model: 'video-4' },
    { account: names.account(3), state: 'cancelled', model: 'video-2' },
    { tag: names.team },
    { tag: names.job },
    { tag: 'team=never' },
    { end_user: names.endUser },
    { tag: names.team, account: names.account(3), state: 'failed' },
  ]
  const middle = cursorAt(`${Math.floor(untilMs - (days / 2) * dayMs)}.~`)
  return one.flatMap((query) => [
    { list: 'tasks', path: pathOf('/tasks', query), pages: 4 },
    { list: 'tasks', path: pathOf('/tasks', { ...query, cursor: middle }), pages: 2 },
    { list: 'tasks', path: pathOf('/tasks', { ...query, limit: 500 }), pages: 1 },
  ])
}

function moneyLists({ untilMs, days, entries }: Filling): ListQuery[] {
  const months = [untilMs, untilMs - (days / 2) * dayMs].map((ms) => time(ms).slice(0, 7))
  return [names.account(0), names.account(3), names.rareAccount].flatMap((account) => [
    { list: 'ledger', path: `/accounts/${account}/ledger`, pages: 4 },
    ...[0.9, 0.4].map((depth) => ({
      list: 'ledger',
      path: pathOf(`/accounts/${account}/ledger`, {
        cursor: cursorAt(Math.floor(entries * depth)),
      }),
      pages: 2,
    })),
    ...[...new Set(months)].map((month) => ({
      list: 'bill lines',
      path: pathOf('/bills', { account, month, lines: 'true' }),
      pages: 3,
    })),
  ])
}

function trafficLists({ untilMs, days }: Filling): ListQuery[] {
  const span = (fraction: number) => ({
    from: time(untilMs - days * fraction * dayMs),
    to: time(untilMs),
  })
  const queries: Query[] = [
    {},
    { by: 'slot,model' },
    { ...span(1), by: 'day,model,channel' },
    { ...span(1), by: 'model,status,error_code' },
    { ...span(0.5), by: 'hour' },
    { ...span(1), by: 'account' },
    { ...span(1), by: 'day,status', account: names.account(3) },
    { ...span(0.2), by: 'hour,status', account: names.account(3) },
  ]
  return queries.map((query) => ({ list: 'traffic', path: pathOf('/traffic', query), pages: 1 }))
}

export function listQueries(filling: Filling): ListQuery[] {
  const others = ['/accounts', '/tokens', '/audit-log', '/losses', '/alerts', '/statements']
  return [
    ...requestLists(filling),
    ...taskLists(filling),
    ...moneyLists(filling),
    ...trafficLists(filling),
    ...others.map((path) => ({ list: 'others', path, pages: 4 })),
    { list: 'others', path: pathOf('/tokens', { account: names.account(3) }), pages: 1 },
    { list: 'others', path: '/requests?id=no-such-id', pages: 1 },
  ]
}
