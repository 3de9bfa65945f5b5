// Before an action that cannot be undone: the person types its name.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../lib/messages.ts'
import { useAction } from '../lib/use-action.ts'
import { ErrorAlert } from './page.tsx'

export function ConfirmByName({
  name,
  title,
  text,
  action,
  isOpen,
  onClose,
  onConfirm,
}: {
  /** The text to type. */
  name: string
  title: string
  text: string
  action: string
  isOpen: boolean
  onClose: () => void
  onConfirm: () => Promise<unknown>
}) {
  const t = useMessages()
  const [typed, setTyped] = useState('')
  const { error, isBusy, run } = useAction()
  const confirm = async () => {
    if (!(await run(onConfirm))) return
    setTyped('')
    onClose()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        <TextInput
          label={t('type_name', { name })}
          value={typed}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <ErrorAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button color="red" disabled={typed !== name} loading={isBusy} onClick={confirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
