// The newest open alerts, and the way to all of them.
import { Stack } from '@mantine/core'
import { OpenAlerts } from '../../components/alerts/open-alerts.tsx'
import { useMessages } from '../../lib/messages.ts'
import { Link } from '../../lib/router.tsx'
import { messages } from './messages.ts'

const shownAlerts = 5

export function Alerts() {
  const t = useMessages(messages)
  return (
    <Stack gap="sm">
      <OpenAlerts limit={shownAlerts} />
      <Link to="/alerts">{t('all_alerts')}</Link>
    </Stack>
  )
}
