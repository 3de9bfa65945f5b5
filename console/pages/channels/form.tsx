// A channel's settings: new, or changed. Keys go in and never come out.
import { Button, Group, Modal, NumberInput, Stack, Textarea, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import { type Channel, linesOf, pairsOf } from './channel.ts'
import { words } from './words.ts'

interface Props {
  /** Absent: a new one. */
  channel?: Channel
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function ChannelForm(props: Props) {
  const say = useWords(words)
  return (
    <Modal
      opened={props.isOpen}
      onClose={props.onClose}
      title={say(props.channel === undefined ? 'add' : 'edit')}
      size="lg"
      closeOnClickOutside={false}
    >
      <Fields {...props} />
    </Modal>
  )
}

const startingProtocols = 'chat = https://up.example/compatible/v1'

function Fields({ channel, onClose, onDone }: Props) {
  const say = useWords(words)
  const shared = useWords(common)
  const [name, setName] = useState(channel?.name ?? '')
  const [keys, setKeys] = useState('')
  const [protocols, setProtocols] = useState(
    channel === undefined ? startingProtocols : linesOf(channel.protocols),
  )
  const [models, setModels] = useState(channel === undefined ? '* = *' : linesOf(channel.models))
  const [numbers, setNumbers] = useState({
    priority: channel?.priority ?? 0,
    weight: channel?.weight ?? 1,
    max_concurrency: channel?.max_concurrency ?? 200,
  })
  const [error, setError] = useState<Error>()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const read = { protocols: pairsOf(protocols), models: pairsOf(models) }
    for (const pairs of Object.values(read)) {
      if (typeof pairs === 'number') return setError(new Error(say('bad_line', { n: pairs })))
    }
    const given = keys.split('\n').filter((key) => key.trim() !== '')
    const body = { name, ...read, ...numbers, ...(given.length > 0 && { keys: given }) }
    try {
      if (channel === undefined) await ask('POST', '/channels', { body })
      else await ask('PATCH', `/channels/${channel.id}`, { body })
      onDone()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={say('name')}
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Lines
          label={say('protocols')}
          hint={say('protocols_hint')}
          value={protocols}
          onChange={setProtocols}
        />
        <Lines label={say('keys')} hint={say('keys_hint')} value={keys} onChange={setKeys} />
        <Lines
          label={say('models')}
          hint={say('models_hint')}
          value={models}
          onChange={setModels}
        />
        <Group grow>
          {(['priority', 'weight', 'max_concurrency'] as const).map((each) => (
            <NumberInput
              key={each}
              label={say(each === 'max_concurrency' ? 'most' : each)}
              value={numbers[each]}
              onChange={(value) => setNumbers({ ...numbers, [each]: Number(value) })}
            />
          ))}
        </Group>
        <ErrorNote error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {shared('cancel')}
          </Button>
          <Button type="submit">{shared('save')}</Button>
        </Group>
      </Stack>
    </form>
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
