// Replaces the keys of a channel with the next call; the old ones are deleted.
import { Modal, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { keysIn } from './draft.ts'
import { messages } from './messages.ts'

interface Props {
  channel: Channel
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function ReplaceKeys(props: Props) {
  const t = useMessages(messages)
  return (
    <Modal opened={props.isOpen} onClose={props.onClose} title={t('new_keys')}>
      {props.isOpen && <Field {...props} />}
    </Modal>
  )
}

function Field({ channel, onClose, onDone }: Props) {
  const t = useMessages(messages)
  const [keys, setKeys] = useState('')
  const submit = async () => {
    await api('PATCH', `/channels/${channel.id}`, { body: { keys: keysIn(keys) } })
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('new_keys')} onSubmit={submit} onCancel={onClose}>
      <Text size="sm">{t('new_keys_hint', { n: channel.keys })}</Text>
      <Textarea
        label={t('keys')}
        description={t('keys_once')}
        required
        data-autofocus
        autosize
        minRows={2}
        maxRows={6}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: 'private' }}
        value={keys}
        onChange={(event) => setKeys(event.currentTarget.value)}
      />
    </ActionForm>
  )
}
