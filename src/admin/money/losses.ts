// Losses: upstream work that no caller paid for, one by one and added up.
import { groupLosses, type LossTotal, totalLosses } from '../../billing/loss-totals.ts'
import { tagsView } from '../../contract/tags/index.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { tagsOfRefs } from '../../store/ledger/loss-tags.ts'
import {
  type LossFilter,
  type LossSum,
  listLosses,
  type StoredLoss,
  sumLosses,
} from '../../store/ledger/losses.ts'
import { listOf, time, wrong } from '../answers.ts'
import { forStaff } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import {
  lossList,
  lossQuery,
  type loss as lossSchema,
  lossSummary,
  lossSummaryQuery,
} from './loss-schema.ts'

type Filters = Pick<Ask<{ query: typeof lossQuery }>, 'query' | 'account'>

function filterOf({ query, account }: Filters): LossFilter {
  const { reason, channel, model, ref, from, to } = query
  return { accountId: account?.id, reason, channel, model, ref, fromMs: from, toMs: to }
}

async function listAll({ engine, page, ...asked }: Ask<{ query: typeof lossQuery }>) {
  const found = await listLosses(engine.store.read, { ...filterOf(asked), ...page })
  const { currency } = engine.declared.file
  const tags = await tagsOfRefs(
    engine.store.read,
    found.items.map(({ ref }) => ref),
  )
  return listOf(found, (loss) => view(loss, currency, tags.get(loss.ref)))
}

async function sumMonth({ engine, ...asked }: Ask<{ query: typeof lossSummaryQuery }>) {
  const month = asked.query.month ?? monthAt(engine.clock.nowMs())
  const bounds = monthBounds(month)
  if (bounds === undefined) return wrong('month', 'must be of the form 2026-11')
  const { fromMs, untilMs: toMs } = bounds
  const sums = await sumLosses(engine.store.read, { ...filterOf(asked), fromMs, toMs })
  return { month, currency: engine.declared.file.currency, ...summaryOf(sums) }
}

const view = (
  loss: StoredLoss,
  currency: string,
  tags: string | undefined,
): View<typeof lossSchema> => ({
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
  ...tagsView(tags),
})

const totalsView = ({ losses, amountNanos, estimatedNanos }: LossTotal) => ({
  losses,
  amount: formatNanos(amountNanos),
  estimated: formatNanos(estimatedNanos),
})

const summaryOf = (sums: readonly LossSum[]) => {
  const groupsBy = (field: 'reason' | 'channel' | 'model') => groupLosses(sums, field)
  return {
    ...totalsView(totalLosses(sums)),
    by_reason: groupsBy('reason').map(({ name, ...rest }) => ({
      reason: name,
      ...totalsView(rest),
    })),
    by_channel: groupsBy('channel').map(({ name, ...rest }) => ({
      channel: name,
      ...totalsView(rest),
    })),
    by_model: groupsBy('model').map(({ name, ...rest }) => ({ model: name, ...totalsView(rest) })),
  }
}

const route = routesOf({ tag: 'Losses', thing: 'loss', permission: forStaff })

export const lossRoutes = [
  route('GET /losses', {
    id: 'listLosses',
    summary: 'List upstream work that no caller paid for',
    query: lossQuery,
    answer: lossList,
    handle: listAll,
  }),
  route('GET /losses/summary', {
    id: 'sumLosses',
    summary: 'Sum the losses of a month',
    query: lossSummaryQuery,
    answer: lossSummary,
    returns: 'Sums by reason, channel and model.',
    handle: sumMonth,
  }),
]
