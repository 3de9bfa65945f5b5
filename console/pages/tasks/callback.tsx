// Who was told of a task's end, how often it was tried, and once more.
import { Button, Group, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { actors, type Task } from '../../lib/resources/task.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

export function CallbackAttempts({ task, onChanged }: { task: Task; onChanged: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const mayAct = hasRole(useSession(), actors)
  const [error, setError] = useState<Error>()
  const { callback } = task
  if (callback === null || callback === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t('callback_none')}
      </Text>
    )
  }
  const resend = async () => {
    setError(undefined)
    try {
      await api('POST', `/tasks/${task.id}/callback`)
      onChanged()
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {callback.url}
      </Text>
      <ErrorAlert error={error} />
      <Table>
        <Table.Tbody>
          {callback.attempts.map((attempt, i) => (
            <Table.Tr key={attempt.at}>
              <Table.Td>
                {t('attempt')} {i + 1}
              </Table.Td>
              <Table.Td>
                <Time at={attempt.at} />
              </Table.Td>
              <Table.Td>{attempt.status ?? attempt.error}</Table.Td>
              <Table.Td ta="right">{format.ms(attempt.took_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group>
        {callback.next_at !== null && (
          <Text size="sm">{t('callback_next', { when: format.ago(callback.next_at) })}</Text>
        )}
        {mayAct && (
          <Button size="xs" variant="default" onClick={resend}>
            {t('resend')}
          </Button>
        )}
      </Group>
    </>
  )
}
