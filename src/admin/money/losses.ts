// What the operator bears: upstream work that no caller paid for, one by one and added up.
import { groupLosses, type LossTotal, totalLosses } from '../../billing/loss-totals.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { type LossReason, lossReasons } from '../../contract/ledger.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  type LossFilter,
  type LossSum,
  listLosses,
  type StoredLoss,
  sumLosses,
} from '../../store/ledger/losses.ts'
import {
  type AdminDeps,
  listOf,
  notFound,
  pageQuery,
  type Resource,
  route,
  time,
} from '../legacy-route.ts'

export const losses: Resource = (app, deps) => {
  const { engine } = deps

  app.get(
    '/losses',
    route(async ({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const filter = await filterFrom(query, deps)
      if (filter instanceof Refusal) return filter
      const found = await listLosses(engine.store.read, { ...filter, ...page })
      const { currency } = engine.declared.file
      return listOf(found, (loss) => view(loss, currency))
    }),
  )

  app.get(
    '/losses/summary',
    route(async ({ query }) => {
      const month = query('month') ?? monthAt(engine.clock.nowMs())
      const bounds = monthBounds(month)
      if (bounds === undefined) {
        return refuse('invalid_request', "'month' must be of the form 2026-11", { param: 'month' })
      }
      const filter = await filterFrom(query, deps)
      if (filter instanceof Refusal) return filter
      const { fromMs, untilMs: toMs } = bounds
      const sums = await sumLosses(engine.store.read, { ...filter, fromMs, toMs })
      return { month, currency: engine.declared.file.currency, ...summaryOf(sums) }
    }),
  )
}

type Read = (name: string) => string | undefined

async function filterFrom(read: Read, { engine }: AdminDeps): Promise<LossFilter | Refusal> {
  const wanted = read('account')
  const account = wanted === undefined ? undefined : await findAccount(engine.store.read, wanted)
  if (wanted !== undefined && account === undefined) return notFound('account', wanted)
  const reason = read('reason')
  if (reason !== undefined && !lossReasons.includes(reason as LossReason)) {
    const message = `'reason' must be one of: ${lossReasons.join(', ')}`
    return refuse('invalid_request', message, { param: 'reason' })
  }
  const [fromMs, toMs] = [timeIn(read, 'from'), timeIn(read, 'to')]
  if (fromMs instanceof Refusal) return fromMs
  if (toMs instanceof Refusal) return toMs
  return {
    accountId: account?.id,
    reason,
    channel: read('channel'),
    model: read('model'),
    ref: read('ref'),
    fromMs,
    toMs,
  }
}

function timeIn(read: Read, name: string): number | undefined | Refusal {
  const text = read(name)
  const ms = text === undefined ? undefined : Date.parse(text)
  return Number.isNaN(ms)
    ? refuse('invalid_request', `'${name}' must be an RFC 3339 time`, { param: name })
    : ms
}

const view = (loss: StoredLoss, currency: string) => ({
  id: loss.id,
  at: time(loss.atMs),
  account_id: loss.accountId,
  reason: loss.reason,
  amount: formatNanos(loss.amountNanos),
  currency,
  estimated: loss.isEstimate,
  channel: loss.channel,
  model: loss.model,
  unit: loss.unit ?? null,
  quantity: loss.quantity ?? null,
  request_id: loss.ref.startsWith('req_') ? loss.ref : null,
  task_id: loss.ref.startsWith('req_') ? null : loss.ref,
  upstream_id: loss.upstreamId ?? '',
})

const totalsView = ({ losses, amountNanos, estimatedNanos }: LossTotal) => ({
  losses,
  amount: formatNanos(amountNanos),
  estimated: formatNanos(estimatedNanos),
})

const summaryOf = (sums: readonly LossSum[]) => ({
  ...totalsView(totalLosses(sums)),
  by_reason: groupedBy(sums, 'reason'),
  by_channel: groupedBy(sums, 'channel'),
  by_model: groupedBy(sums, 'model'),
})

function groupedBy(sums: readonly LossSum[], field: 'reason' | 'channel' | 'model') {
  const totals = groupLosses(sums, field)
  return totals.map(({ name, ...total }) => ({ [field]: name, ...totalsView(total) }))
}
