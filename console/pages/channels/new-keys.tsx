// Other keys for a channel: they take over with the next call, and the old ones are forgotten.
import { Modal, Stack, Text, Textarea } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useWords } from '../../lib/words.ts'
import { FormEnd } from '../../parts/form-end.tsx'
import type { Channel } from './channel.ts'
import { keysIn } from './wizard.tsx'
import { words } from './words.ts'

interface Props {
  channel: Channel
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function NewKeys(props: Props) {
  const say = useWords(words)
  return (
    <Modal opened={props.isOpen} onClose={props.onClose} title={say('new_keys')}>
      {props.isOpen && <Field {...props} />}
    </Modal>
  )
}

function Field({ channel, onClose, onDone }: Props) {
  const say = useWords(words)
  const [keys, setKeys] = useState('')
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await ask('PATCH', `/channels/${channel.id}`, { body: { keys: keysIn(keys) } })
      onDone()
      onClose()
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{say('new_keys_hint', { n: channel.keys })}</Text>
        <Textarea
          label={say('keys')}
          description={say('keys_once')}
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
        <FormEnd error={error} isBusy={isBusy} submit={say('new_keys')} onCancel={onClose} />
      </Stack>
    </form>
  )
}
