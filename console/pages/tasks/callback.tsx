// The callback of a task: its address, its attempts, and a way to send it again.
import { Button, Group, Text } from '@mantine/core'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { actors, type Task } from '../../lib/resources/task.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

export function CallbackAttempts({ task, onChanged }: { task: Task; onChanged: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const mayAct = hasRole(useSession(), actors)
  const { error, run } = useAction()
  const { callback } = task
  if (callback === null || callback === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t('callback_none')}
      </Text>
    )
  }
  const resend = () =>
    run(async () => {
      await api('POST', `/tasks/${task.id}/callback`)
      onChanged()
    })
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {callback.url}
      </Text>
      <ErrorAlert error={error} />
      <SimpleTable
        label={t('callback')}
        rows={callback.attempts}
        rowKey={({ at }) => at}
        columns={[
          {
            title: t('attempt'),
            cell: (attempt) => callback.attempts.indexOf(attempt) + 1,
          },
          { title: t('time'), cell: ({ at }) => <Time at={at} /> },
          { title: t('status'), cell: ({ status, error: reason }) => status ?? reason },
          { title: '', align: 'right', cell: ({ took_ms }) => format.ms(took_ms) },
        ]}
      />
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
