// Before something that cannot be taken back: its name has to be typed.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../lib/messages.ts'
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
  /** What has to be typed. */
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
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      setTyped('')
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
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
          <Button color="red" disabled={typed !== name} loading={busy} onClick={confirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
