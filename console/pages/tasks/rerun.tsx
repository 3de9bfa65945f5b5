// The same request as a new task. It costs money, so it asks first and shows the maximum.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Task } from '../../lib/resources/task.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

/** Synchronous images are calls, not tasks, and inputs sent as data are not stored. */
const canRepeat = ({ interface: use, request }: Task): boolean =>
  use !== 'images' && request.inputs.every(({ url }) => url !== 'data:')

export function RerunTask({ task, onMade }: { task: Task; onMade: (id: string) => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const action = useAction()
  const [isOpen, setOpen] = useState(false)
  if (!canRepeat(task)) return null
  const run = () =>
    action.run(async () => {
      const made = await api<Task>('POST', `/tasks/${encodeURIComponent(task.id)}/rerun`)
      setOpen(false)
      onMade(made.id)
    })
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('rerun')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('rerun')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Text size="sm">
            {t('rerun_text', {
              account: task.account ?? '',
              amount: format.money(task.hold, currency),
            })}
          </Text>
          <ErrorAlert error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              {t('cancel')}
            </Button>
            <Button loading={action.isBusy} onClick={run}>
              {t('rerun')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
