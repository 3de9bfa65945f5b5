// The first page: how much is asked, how well it is answered, what it brings in, and what needs
// somebody.
import { SegmentedControl, SimpleGrid } from '@mantine/core'
import { useQueryValue } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote, Page, Panel } from '../../parts/page.tsx'
import { Alerts } from './alerts.tsx'
import { Cards } from './cards.tsx'
import { ChannelList } from './channel-list.tsx'
import { Charts } from './charts.tsx'
import { FirstSteps } from './first-steps.tsx'
import { TopModels, TopTokens } from './top-lists.tsx'
import { type Range, spans, useTraffic } from './traffic.ts'
import { words } from './words.ts'

export default function Overview() {
  const say = useWords(words)
  const session = useSession()
  const [asked = 'day', setRange] = useQueryValue('range')
  const range: Range = asked === 'week' || asked === 'month' ? asked : 'day'
  const traffic = useTraffic(range, `${spans[range].by},status`)
  return (
    <Page
      title={say('title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={say('range')}
          value={range}
          onChange={(value) => setRange(value === 'day' ? undefined : value, 'replace')}
          data={(['day', 'week', 'month'] as const).map((value) => ({ value, label: say(value) }))}
        />
      }
    >
      <FirstSteps hasRequests={(traffic.data?.items.length ?? 0) > 0} />
      <ErrorNote error={traffic.error} />
      <Cards range={range} />
      <Charts range={range} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {session.role !== 'member' && (
          <Panel title={say('alerts')}>
            <Alerts />
          </Panel>
        )}
        {maySee(session, ['operator']) && (
          <Panel title={say('channels')}>
            <ChannelList />
          </Panel>
        )}
        <Panel title={say('models')}>
          <TopModels range={range} />
        </Panel>
        <Panel title={say('top_tokens')}>
          <TopTokens range={range} />
        </Panel>
      </SimpleGrid>
    </Page>
  )
}
