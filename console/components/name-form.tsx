// Asks for a name in place of a menu; an empty name or Esc cancels.
import { Button, Group, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { useMessages } from '../lib/messages.ts'

export function NameForm({
  label,
  onName,
  onCancel,
}: {
  label: string
  onName: (name: string) => void
  onCancel: () => void
}) {
  const t = useMessages()
  const [name, setName] = useState('')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (name.trim() === '') onCancel()
    else onName(name.trim())
  }
  return (
    <form onSubmit={submit}>
      <Group gap={4} wrap="nowrap">
        <TextInput
          size="xs"
          aria-label={label}
          placeholder={label}
          maxLength={60}
          value={name}
          ref={(input) => input?.focus()}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel()
          }}
        />
        <Button type="submit" size="xs" variant="default">
          {t('save')}
        </Button>
      </Group>
    </form>
  )
}
