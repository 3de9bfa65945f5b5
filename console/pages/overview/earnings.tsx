// What is earned and spent: charges, cost and margin, and a bar for every hour or day of it.
import { Group, Text } from '@mantine/core'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor, type Series } from '../../components/charts/series.ts'
import { Panel } from '../../components/page.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useBusiness, useCharges } from './charges.ts'
import { Figure } from './figure.tsx'
import { earningsOf, type Margin, marginOf } from './figures.ts'
import { messages } from './messages.ts'
import type { Chosen } from './period.ts'
import { momentsOf, spans } from './traffic.ts'

const marginColor = 'var(--c1)'
const unknownColor = 'var(--c5)'
const lossColor = 'var(--bad-mark)'

export function Earnings({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const { days, moneyBy } = spans[chosen.range]
  const format = useFormat()
  const { currency } = useSession()
  const { now, before } = useBusiness(chosen, 'account')
  const total = now?.total
  const compared = (of: 'amount' | 'cost' | 'margin') => ({
    now: Number(total?.[of] ?? Number.NaN),
    before: before && Number(before.total[of] ?? Number.NaN),
  })
  const margin = total && marginOf(total)
  const marginBefore = before && marginOf(before.total)
  const to = `/usage?days=${days}${moneyBy === 'hour' ? '&per=hour' : ''}`
  const hasCost = total === undefined || (total.cost_unknown ?? 0) < Math.max(total.charges, 1)
  const figure = (of: 'amount' | 'cost' | 'margin', title: string) => {
    const isKnown = of === 'amount' || hasCost
    const shown = isKnown ? total?.[of] : undefined
    return {
      ...{ title, to, against: isKnown ? compared(of) : undefined },
      ...{ value: format.money(shown), exact: format.exact(shown, currency) },
    }
  }
  return (
    <Panel title={`${t('earnings')}, ${currency}`}>
      <Group gap="12px 32px" align="flex-start" mb="xs">
        <Figure {...figure('amount', t('spend'))} />
        <Figure {...figure('cost', t('upstream_cost'))} color={restColor} />
        <Figure
          {...figure('margin', t(margin?.isAtMost && hasCost ? 'margin_at_most' : 'margin'))}
          good="up"
          color={marginColor}
          note={margin && <MarginNote {...{ now: margin, before: marginBefore }} />}
        />
      </Group>
      <EarningsChart chosen={chosen} />
      {margin?.isAtMost && (
        <Text size="xs" c="dimmed" mt="xs">
          {t(hasCost ? 'cost_unknown' : 'no_cost_known', {
            n: format.number(total?.cost_unknown),
            all: format.number(total?.charges),
          })}{' '}
          <Link to="/channels">{t('set_costs')}</Link>
        </Text>
      )}
    </Panel>
  )
}

function MarginNote({ now, before }: { now: Margin; before: Margin | undefined }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (now.share === undefined) return null
  const share = format.percent(now.share)
  return before?.share === undefined
    ? t('of_charges', { share })
    : t('of_charges_before', { share, before: format.percent(before.share) })
}

/** What is nothing at all needs no place in the legend. */
const drawnOnly = (all: readonly Series[]): Series[] =>
  all.filter(({ values }) => values.some((value) => value !== 0))

/** Always of the whole range: a bar is chosen here. */
function EarningsChart({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { range, pick } = chosen
  const { moneyBy: by } = spans[range]
  const moments = momentsOf(range, by)
  // By model, since costs are known by model.
  const rows = useCharges(range, `${by},model`).data?.items ?? []
  const { covered, margin, loss, unknown } = earningsOf(rows, moments, by)
  const hasLoss = loss.some((value) => value > 0)
  return (
    <Chart
      label={t('earnings_over_time')}
      by={by}
      moments={moments}
      format={(value) => format.drawn(value, currency)}
      axis={(value) => format.amountTick(value, currency)}
      onPick={(index) => pick(moments[index]!, by)}
      series={drawnOnly([
        { name: t(hasLoss ? 'cost_covered' : 'upstream_cost'), color: restColor, values: covered },
        { name: t('margin'), color: marginColor, values: margin },
        { name: t('no_cost'), color: unknownColor, values: unknown },
        { name: t('loss'), color: lossColor, values: loss },
      ])}
    />
  )
}
