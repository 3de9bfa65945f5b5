// The form of a channel: edit or clone. Keys are write-only.
import { Group, Modal, NumberInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Channel, linesOf, pairsOf } from '../../lib/resources/channel.ts'
import { keysIn } from './draft.ts'
import { messages } from './messages.ts'

interface Props {
  /** To be changed. */
  channel?: Channel
  /** A new one like this; its keys have to be given again. */
  copyOf?: Channel
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function ChannelForm(props: Props) {
  const t = useMessages(messages)
  return (
    <Modal
      opened={props.isOpen}
      onClose={props.onClose}
      title={t(props.channel === undefined ? 'clone' : 'edit')}
      size="lg"
      closeOnClickOutside={false}
    >
      {props.isOpen && <Fields {...props} />}
    </Modal>
  )
}

function Fields({ channel, copyOf, onClose, onDone }: Props) {
  const t = useMessages(messages)
  const wrong = useFieldError()
  const from = channel ?? copyOf
  const [name, setName] = useState(channel?.name ?? (copyOf && `${copyOf.name}-2`) ?? '')
  const [keys, setKeys] = useState('')
  const [protocols, setProtocols] = useState(linesOf(from?.protocols ?? {}))
  const [models, setModels] = useState(linesOf(from?.models ?? {}))
  const [numbers, setNumbers] = useState({
    priority: from?.priority ?? 0,
    weight: from?.weight ?? 1,
    max_concurrency: from?.max_concurrency ?? 200,
  })
  const submit = async () => {
    const read = { protocols: pairsOf(protocols), models: pairsOf(models) }
    for (const pairs of Object.values(read)) {
      if (typeof pairs === 'number') throw new Error(t('bad_line', { n: pairs }))
    }
    const given = keysIn(keys)
    const body = { name, ...read, ...numbers, ...(given.length > 0 && { keys: given }) }
    if (channel !== undefined) await api('PATCH', `/channels/${channel.id}`, { body })
    else {
      // A copy begins drained: it was not tried yet.
      const timeouts = copyOf === undefined ? {} : { timeouts: copyOf.timeouts }
      await api('POST', '/channels', { body: { ...body, ...timeouts, disabled: true } })
    }
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('save')} onSubmit={submit} onCancel={onClose}>
      <TextInput
        label={t('name')}
        required
        data-autofocus
        value={name}
        error={wrong('name', name)}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Lines
        label={t('protocols')}
        hint={t('protocols_hint')}
        value={protocols}
        onChange={setProtocols}
      />
      <Lines
        label={t('keys')}
        hint={t(channel === undefined ? 'keys_once' : 'keys_hint')}
        value={keys}
        onChange={setKeys}
      />
      <Lines label={t('models')} hint={t('models_hint')} value={models} onChange={setModels} />
      <Group grow>
        {(['priority', 'weight', 'max_concurrency'] as const).map((each) => (
          <NumberInput
            key={each}
            label={t(each)}
            value={numbers[each]}
            onChange={(value) => setNumbers({ ...numbers, [each]: Number(value) })}
          />
        ))}
      </Group>
    </ActionForm>
  )
}

const Lines = ({
  label,
  hint,
  value,
  onChange,
}: {
  label: string
  hint: string
  value: string
  onChange: (value: string) => void
}) => (
  <Textarea
    label={label}
    description={hint}
    value={value}
    autosize
    minRows={2}
    maxRows={10}
    spellCheck={false}
    styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)
