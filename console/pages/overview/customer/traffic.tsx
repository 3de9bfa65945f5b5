// What an account spends and asks, for its members: cards, charts, and what most is spent on.
import { SimpleGrid } from '@mantine/core'
import { Chart } from '../../../components/charts/chart.tsx'
import { restColor, seriesColors } from '../../../components/charts/series.ts'
import { Panel } from '../../../components/page.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { navigate } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useSpend } from '../charges.ts'
import { Charts } from '../charts.tsx'
import { spendByModel } from '../figures.ts'
import { requestsAt } from '../links.ts'
import { messages } from '../messages.ts'
import { Outcomes } from '../outcomes.tsx'
import { barPeriod, type Chosen } from '../period.ts'
import { momentsOf, type Range, spans } from '../traffic.ts'
import { StatCards } from './cards.tsx'
import { TopModels, TopTokens } from './top-lists.tsx'

const modelColors = seriesColors.slice(0, 5).concat(restColor)

export default function MemberTraffic({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const { range } = chosen
  return (
    <>
      <StatCards range={range} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <SpendChart range={range} />
        <Outcomes
          chosen={{
            ...chosen,
            // Cards are of the whole time.
            pick: (atMs, step) => navigate(requestsAt(barPeriod(atMs, step, chosen.period))),
          }}
        />
      </SimpleGrid>
      <Charts range={range} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Panel title={t('models')}>
          <TopModels range={range} />
        </Panel>
        <Panel title={t('top_tokens')}>
          <TopTokens range={range} />
        </Panel>
      </SimpleGrid>
    </>
  )
}

function SpendChart({ range }: { range: Range }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { moneyBy: by } = spans[range]
  const moments = momentsOf(range, by)
  const rows = useSpend(range).data?.items ?? []
  const how = { by, top: modelColors.length - 1, other: t('other') }
  return (
    <Panel title={t('spend_over_time')}>
      <Chart
        label={t('spend_over_time')}
        by={by}
        moments={moments}
        format={(value) => format.drawn(value, currency)}
        axis={(value) => format.amountTick(value, currency)}
        series={spendByModel(rows, moments, how).map(({ name, values }, i) => ({
          ...{ name, values, color: modelColors[i] ?? restColor },
        }))}
      />
    </Panel>
  )
}
