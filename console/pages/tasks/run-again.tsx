// The same request once more, as a new task. It costs, so it asks first and says how much at most.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import type { Task } from './task.ts'
import { words } from './words.ts'

/** Pictures that somebody waited for are made by a call, and what was sent as bytes is not kept. */
const canRepeat = ({ interface: use, request }: Task): boolean =>
  use !== 'images' && request.inputs.every(({ url }) => url !== 'data:')

export function RunAgain({ task, onMade }: { task: Task; onMade: (id: string) => void }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  const action = useAction()
  const [isOpen, setOpen] = useState(false)
  if (!canRepeat(task)) return null
  const run = () =>
    action.run(async () => {
      const made = await ask<Task>('POST', `/tasks/${encodeURIComponent(task.id)}/again`)
      setOpen(false)
      onMade(made.id)
    })
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {say('again')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={say('again')}
        closeButtonProps={{ 'aria-label': shared('close') }}
      >
        <Stack>
          <Text size="sm">
            {say('again_text', {
              account: task.account ?? '',
              amount: format.money(task.hold, currency),
            })}
          </Text>
          <ErrorNote error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              {shared('cancel')}
            </Button>
            <Button loading={action.isBusy} onClick={run}>
              {say('again')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
