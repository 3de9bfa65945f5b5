// Alerts: what is open, what was resolved and by whom, and who is notified.
import { Tabs } from '@mantine/core'
import { OpenAlerts } from '../../components/alerts/open-alerts.tsx'
import { Page, Panel } from '../../components/page.tsx'
import { useMessages } from '../../lib/messages.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { AlertHistory } from './history.tsx'
import { messages } from './messages.ts'
import { Subscriptions } from './subscriptions.tsx'

const tabs = ['open', 'history', 'subscriptions'] as const
const shownAlerts = 100

export default function Alerts() {
  const t = useMessages(messages)
  const session = useSession()
  const [asked] = useQueryValue('tab')
  // Who is notified is set up by operators.
  const shown = tabs.filter((tab) => tab !== 'subscriptions' || hasRole(session, ['operator']))
  const current = shown.find((tab) => tab === asked) ?? 'open'
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Tabs
        value={current}
        keepMounted={false}
        onChange={(tab) =>
          setQuery({ tab: tab === 'open' || tab === null ? undefined : tab, open: undefined })
        }
      >
        <Tabs.List>
          {shown.map((tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {t(tab)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="open" pt="md">
          <Panel>
            <OpenAlerts limit={shownAlerts} />
          </Panel>
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          <AlertHistory />
        </Tabs.Panel>
        {shown.includes('subscriptions') && (
          <Tabs.Panel value="subscriptions" pt="md">
            <Subscriptions />
          </Tabs.Panel>
        )}
      </Tabs>
    </Page>
  )
}
