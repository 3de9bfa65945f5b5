// Open alerts, and the button that resolves one.

import { Button, Group, Stack, Text } from '@mantine/core'
import type { Alert } from '../../../src/admin/system/system-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { State } from '../../components/values.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

export function Alerts() {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const session = useSession()
  const action = useAction()
  const { data, error, refetch } = useResource<Page<Alert>>('/alerts', {
    query: { limit: 20 },
    refetchInterval: 10_000,
  })
  const resolve = ({ id }: Alert) =>
    action.run(async () => {
      await api('POST', `/alerts/${id}/resolve`)
      await refetch()
    })
  if (data?.items.length === 0) return <Text c="dimmed">{t('no_alerts')}</Text>
  return (
    <Stack gap="sm">
      <ErrorAlert error={action.error ?? error} />
      {data?.items.map((alert) => (
        <div key={alert.id}>
          <Group justify="space-between" wrap="nowrap">
            <State
              state={alert.kind === 'books' ? 'failed' : 'unknown'}
              label={server.text('alert', alert.kind)}
            />
            <Text size="xs" c="dimmed">
              {t('since', { when: format.ago(alert.since) })}
            </Text>
          </Group>
          <Text size="sm">{server.text('alert_advice', alert.kind, '')}</Text>
          <Text size="sm" c="dimmed">
            {alert.message}
          </Text>
          {session.role === 'administrator' && (
            <Button size="compact-xs" variant="default" onClick={() => resolve(alert)}>
              {t('resolve')}
            </Button>
          )}
        </div>
      ))}
    </Stack>
  )
}
