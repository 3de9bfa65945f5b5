// Before something that cannot be taken back: its name has to be typed.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../lib/words.ts'
import { ErrorNote } from './page.tsx'
import { common } from './words.ts'

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
  const say = useWords(common)
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
      closeButtonProps={{ 'aria-label': say('close') }}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        <TextInput
          label={say('type_name', { name })}
          value={typed}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <ErrorNote error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {say('cancel')}
          </Button>
          <Button color="red" disabled={typed !== name} loading={busy} onClick={confirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
