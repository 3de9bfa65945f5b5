// What needs somebody, and saying that it was seen to.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { State } from '../../parts/values.tsx'
import { words } from './words.ts'

interface Alert {
  id: string
  kind: string
  subject: string
  message: string
  since: string
}

export function Alerts() {
  const say = useWords(words)
  const format = useFormat()
  const session = useSession()
  const [failed, setFailed] = useState<Error>()
  const { data, error, refetch } = useQuery({
    queryKey: ['alerts'],
    queryFn: () => ask<Page<Alert>>('GET', '/alerts', { query: { limit: 20 } }),
    refetchInterval: 10_000,
  })
  const resolve = async ({ id }: Alert) => {
    setFailed(undefined)
    try {
      await ask('POST', `/alerts/${id}/resolve`)
      await refetch()
    } catch (cause) {
      setFailed(cause as Error)
    }
  }
  if (data?.items.length === 0) return <Text c="dimmed">{say('no_alerts')}</Text>
  return (
    <Stack gap="sm">
      <ErrorNote error={failed ?? error} />
      {data?.items.map((alert) => (
        <div key={alert.id}>
          <Group justify="space-between" wrap="nowrap">
            <State state={alert.kind === 'books' ? 'failed' : 'unknown'} label={alert.kind} />
            <Text size="xs" c="dimmed">
              {say('since', { when: format.ago(alert.since) })}
            </Text>
          </Group>
          <Text size="sm">{alert.message}</Text>
          {session.role === 'administrator' && (
            <Button size="compact-xs" variant="default" onClick={() => resolve(alert)}>
              {say('resolve')}
            </Button>
          )}
        </div>
      ))}
    </Stack>
  )
}
