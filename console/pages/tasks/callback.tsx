// Who was told of a task's end, how often it was tried, and once more.
import { Button, Group, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { Time } from '../../parts/values.tsx'
import { actors, type Task } from './task.ts'
import { words } from './words.ts'

export function CallbackAttempts({ task, onChanged }: { task: Task; onChanged: () => void }) {
  const say = useWords(words)
  const format = useFormat()
  const mayAct = maySee(useSession(), actors)
  const [error, setError] = useState<Error>()
  const { callback } = task
  if (callback === null || callback === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {say('callback_none')}
      </Text>
    )
  }
  const resend = async () => {
    setError(undefined)
    try {
      await ask('POST', `/tasks/${task.id}/callback`)
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
      <ErrorNote error={error} />
      <Table>
        <Table.Tbody>
          {callback.attempts.map((attempt, i) => (
            <Table.Tr key={attempt.at}>
              <Table.Td>
                {say('attempt')} {i + 1}
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
          <Text size="sm">{say('callback_next', { when: format.ago(callback.next_at) })}</Text>
        )}
        {mayAct && (
          <Button size="xs" variant="default" onClick={resend}>
            {say('resend')}
          </Button>
        )}
      </Group>
    </>
  )
}
