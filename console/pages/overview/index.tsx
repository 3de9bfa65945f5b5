// The overview answers three questions: is anything wrong, what is being earned and spent, by whom and with
// what.
import { Button, Group, SegmentedControl, SimpleGrid, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { ErrorAlert, Page } from '../../components/page.tsx'
import { useFormat } from '../../lib/format.ts'
import { loadWithRetry } from '../../lib/loading/load.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link, setQuery, useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { Charts } from './charts.tsx'
import { Earnings } from './earnings.tsx'
import { GettingStarted } from './getting-started.tsx'
import { requestsAt } from './links.ts'
import { messages } from './messages.ts'
import { Outcomes } from './outcomes.tsx'
import { type Chosen, useChosen } from './period.ts'
import { Problems } from './problems.tsx'
import { TopAccounts, TopChannels, TopModels } from './top-tables.tsx'
import { type Range, spans, useTraffic } from './traffic.ts'

/** Staff does not load these. */
const CustomerHome = lazy(() => loadWithRetry(() => import('./customer/home.tsx')))
const MemberTraffic = lazy(() => loadWithRetry(() => import('./customer/traffic.tsx')))

export default function Overview() {
  const t = useMessages(messages)
  const { account } = useSession()
  const [asked = 'day'] = useQueryValue('range')
  const range: Range = asked === 'week' || asked === 'month' ? asked : 'day'
  const traffic = useTraffic(range, `${spans[range].by},status`)
  const chosen = useChosen(range)
  return (
    <Page title={t('title')} actions={account === null && <RangeSwitch range={range} />}>
      {account === null && <Problems />}
      <GettingStarted hasRequests={traffic.data && traffic.data.items.length > 0} />
      <ErrorAlert error={traffic.error} />
      {account === null ? (
        <Business chosen={chosen} />
      ) : (
        <Suspense fallback={null}>
          <CustomerHome account={account} />
          <Group justify="flex-end">
            <RangeSwitch range={range} />
          </Group>
          <MemberTraffic chosen={chosen} />
        </Suspense>
      )}
    </Page>
  )
}

function RangeSwitch({ range }: { range: Range }) {
  const t = useMessages(messages)
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('range')}
      value={range}
      onChange={(value) =>
        setQuery({ range: value === 'day' ? undefined : value, at: undefined }, 'replace')
      }
      data={(['day', 'week', 'month'] as const).map((value) => ({ value, label: t(value) }))}
    />
  )
}

const Business = ({ chosen }: { chosen: Chosen }) => (
  <>
    <div className="business">
      <Earnings chosen={chosen} />
      <Outcomes chosen={chosen} />
    </div>
    <Bar chosen={chosen} />
    <SimpleGrid cols={{ base: 1, md: 2, lg: 3 }}>
      <TopAccounts chosen={chosen} />
      <TopModels chosen={chosen} />
      <TopChannels chosen={chosen} />
    </SimpleGrid>
    <Charts range={chosen.range} />
  </>
)

/** The bar that figures and lists are about, and the way back to all of them. */
function Bar({ chosen: { bar, period, clear } }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (bar === undefined) {
    return (
      <Text size="xs" c="dimmed">
        {t('pick_hint')}
      </Text>
    )
  }
  const name = bar.step === 'day' ? format.utcDay(bar.at) : format.minute(bar.at)
  return (
    <Group gap="sm" role="status">
      <Text size="sm">{t('only', { when: name })}</Text>
      <Link to={requestsAt(period)}>{t('its_requests')}</Link>
      <Button size="compact-xs" variant="default" onClick={clear}>
        {t('show_all')}
      </Button>
    </Group>
  )
}
