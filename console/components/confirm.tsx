// Before an action that matters: one button does it, the other keeps things as they are. It says where there is no
// way back. What destroys data that nothing can restore also asks for its name.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../lib/messages.ts'
import { useAction } from '../lib/use-action.ts'
import { ErrorAlert } from './page.tsx'
import { SlowNote } from './waiting.tsx'

export function Confirm({
  title,
  text,
  action,
  keep,
  typed,
  isFinal = false,
  isOpen,
  onClose,
  onConfirm,
}: {
  title: string
  text: string
  /** What the button that does it says, such as 'Cancel task'. */
  action: string
  /** What the other button says, such as 'Keep task'. */
  keep: string
  /** Has to be typed; only for data that is gone for good. */
  typed?: string
  /** Nothing can undo it. */
  isFinal?: boolean
  isOpen: boolean
  onClose: () => void
  onConfirm: () => Promise<unknown>
}) {
  const t = useMessages()
  const [given, setGiven] = useState('')
  const { error, isBusy, run } = useAction()
  const confirm = async () => {
    if (!(await run(onConfirm))) return
    setGiven('')
    onClose()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        {isFinal && <Final />}
        {typed !== undefined && (
          <TextInput
            label={t('type_name', { name: typed })}
            value={given}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setGiven(event.currentTarget.value)}
          />
        )}
        <ErrorAlert error={error} />
        <Group justify="flex-end">
          {isBusy && <SlowNote />}
          <Button
            variant="default"
            onClick={onClose}
            {...(typed === undefined && { 'data-autofocus': true })}
          >
            {keep}
          </Button>
          <Button
            color="red"
            disabled={typed !== undefined && given !== typed}
            loading={isBusy}
            onClick={confirm}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Before what nothing can undo. */
export function Final() {
  const t = useMessages()
  return (
    <Text size="sm" fw={600}>
      {t('final')}
    </Text>
  )
}
