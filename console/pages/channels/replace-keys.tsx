// Keys of a channel: new ones are tried first, and then serve beside the old ones or in their place; at the end
// of a rotation the old ones go.
import { Alert, Checkbox, Modal, SegmentedControl, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel, TestResult } from '../../lib/resources/channel.ts'
import { keysIn } from './draft.ts'
import { messages } from './messages.ts'

interface Props {
  channel: Channel
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

type Way = 'keys_beside' | 'keys_instead' | 'keys_drop'

export function ReplaceKeys(props: Props) {
  const t = useMessages(messages)
  return (
    <Modal opened={props.isOpen} onClose={props.onClose} title={t('new_keys')} size="lg">
      {props.isOpen && <Form {...props} />}
    </Modal>
  )
}

function Form({ channel, onClose, onDone }: Props) {
  const t = useMessages(messages)
  const hasMany = channel.keys > 1
  const [way, setWay] = useState<Way>('keys_beside')
  const [text, setText] = useState('')
  const [refused, setRefused] = useState<string>()
  const [isForced, setForced] = useState(false)
  const path = `/channels/${channel.id}`
  const change = async (body: object) => {
    await api('PATCH', path, { body })
    onDone()
    onClose()
  }
  const submit = async () => {
    if (way === 'keys_drop') return change({ keep_keys: 1 })
    const keys = keysIn(text)
    if (!isForced) {
      const failed = await firstFailed(path, keys)
      setRefused(failed)
      if (failed !== undefined) return
    }
    await change(way === 'keys_beside' ? { add_keys: keys } : { keys })
  }
  const ways: readonly Way[] = [
    'keys_beside',
    'keys_instead',
    ...(hasMany ? ['keys_drop' as const] : []),
  ]
  return (
    <ActionForm
      submit={t(way === 'keys_drop' ? 'keys_drop' : 'test_and_save')}
      onSubmit={submit}
      onCancel={onClose}
    >
      <SegmentedControl
        aria-label={t('new_keys')}
        data={ways.map((value) => ({ value, label: t(value) }))}
        value={way}
        onChange={(value) => setWay(value as Way)}
      />
      <Text size="sm">{t(`${way}_hint`, { n: channel.keys, old: channel.keys - 1 })}</Text>
      {way !== 'keys_drop' && (
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
          value={text}
          error={refused}
          onChange={(event) => {
            setRefused(undefined)
            setForced(false)
            setText(event.currentTarget.value)
          }}
        />
      )}
      {refused !== undefined && (
        <Alert color="yellow">
          <Checkbox
            label={t('keys_anyway')}
            checked={isForced}
            onChange={(event) => setForced(event.currentTarget.checked)}
          />
        </Alert>
      )}
    </ActionForm>
  )
}

/** What the upstream said of the first key that does not work. */
async function firstFailed(path: string, keys: readonly string[]): Promise<string | undefined> {
  for (const [i, key] of keys.entries()) {
    const { ok, error } = await api<TestResult>('POST', `${path}/test`, { body: { key } })
    if (!ok) return keys.length === 1 ? (error ?? '') : `${i + 1}: ${error ?? ''}`
  }
  return undefined
}
