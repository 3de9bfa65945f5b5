// The overview: traffic, success, charges, tasks and open alerts.
import { SegmentedControl, SimpleGrid } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { ErrorAlert, Page, Panel } from '../../components/page.tsx'
import { useMessages } from '../../lib/messages.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { Alerts } from './alerts.tsx'
import { StatCards } from './cards.tsx'
import { ChannelList } from './channel-list.tsx'
import { Charts } from './charts.tsx'
import { GettingStarted } from './getting-started.tsx'
import { messages } from './messages.ts'
import { Problems } from './problems.tsx'
import { TopModels, TopTokens } from './top-lists.tsx'
import { type Range, spans, useTraffic } from './traffic.ts'

/** Staff does not load it. */
const CustomerHome = lazy(() => import('./customer/home.tsx'))

export default function Overview() {
  const t = useMessages(messages)
  const session = useSession()
  const [asked = 'day', setRange] = useQueryValue('range')
  const range: Range = asked === 'week' || asked === 'month' ? asked : 'day'
  const traffic = useTraffic(range, `${spans[range].by},status`)
  return (
    <Page
      title={t('title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('range')}
          value={range}
          onChange={(value) => setRange(value === 'day' ? undefined : value, 'replace')}
          data={(['day', 'week', 'month'] as const).map((value) => ({ value, label: t(value) }))}
        />
      }
    >
      {session.role !== 'member' && <Problems />}
      <GettingStarted hasRequests={(traffic.data?.items.length ?? 0) > 0} />
      {session.account !== null && (
        <Suspense fallback={null}>
          <CustomerHome account={session.account} />
        </Suspense>
      )}
      <ErrorAlert error={traffic.error} />
      <StatCards range={range} />
      <Charts range={range} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {session.role !== 'member' && (
          <Panel title={t('alerts')}>
            <Alerts />
          </Panel>
        )}
        {hasRole(session, ['operator']) && (
          <Panel title={t('channels')}>
            <ChannelList />
          </Panel>
        )}
        <Panel title={t('models')}>
          <TopModels range={range} />
        </Panel>
        <Panel title={t('top_tokens')}>
          <TopTokens range={range} />
        </Panel>
      </SimpleGrid>
    </Page>
  )
}
