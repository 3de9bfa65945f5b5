// The form of a channel: edit or clone. Keys are write-only.
import { Group, Modal, NumberInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Channel, linesOf, pairsOf } from '../../lib/resources/channel.ts'
import { type CloudDraft, type CloudKind, cloudBody, emptyCloud } from './cloud-draft.ts'
import { CloudFields } from './cloud-fields.tsx'
import { keysIn } from './draft.ts'
import { messages } from './messages.ts'
import { PolicyFields, policyBody, policyOf } from './outgoing.tsx'

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

/** What was typed, and the call that saves it. */
function useChannelDraft({ channel, copyOf }: Props) {
  const t = useMessages(messages)
  const from = channel ?? copyOf
  const kind = cloudKindOf(from)
  const [draft, setDraft] = useState(() => ({
    name: channel?.name ?? (copyOf && `${copyOf.name}-2`) ?? '',
    keys: '',
    protocols: linesOf(from?.protocols ?? {}),
    models: linesOf(from?.models ?? {}),
    priority: from?.priority ?? 0,
    weight: from?.weight ?? 1,
    max_concurrency: from?.max_concurrency ?? 200,
    policy: policyOf(from),
    cloud: cloudOf(from),
  }))
  const save = async () => {
    const { name, keys, protocols, models, policy, cloud, ...numbers } = draft
    const read = { protocols: pairsOf(protocols), models: pairsOf(models) }
    for (const pairs of Object.values(read)) {
      if (typeof pairs === 'number') throw new Error(t('bad_line', { n: pairs }))
    }
    const given = keysIn(keys)
    const isNew = channel === undefined
    const terms = policyBody(policy, isNew)
    if (terms === undefined) throw new Error(t('bad_json'))
    const body = {
      ...{ name, ...read, ...numbers, ...terms },
      ...(given.length > 0 && { keys: given }),
      ...(kind !== undefined && accountBody(kind, cloud, from!, isNew)),
    }
    if (!isNew) return api('PATCH', `/channels/${channel.id}`, { body })
    // A copy begins drained: it was not tried yet.
    const timeouts = copyOf === undefined ? {} : { timeouts: copyOf.timeouts }
    return api('POST', '/channels', { body: { ...body, ...timeouts, disabled: true } })
  }
  const change = (part: Partial<typeof draft>) => setDraft({ ...draft, ...part })
  return { draft, change, save, kind }
}

function Fields(props: Props) {
  const { channel, onClose, onDone } = props
  const t = useMessages(messages)
  const wrong = useFieldError()
  const { draft, change, save, kind } = useChannelDraft(props)
  const [error, setError] = useState<Error>()
  const submit = async () => {
    await save().catch((cause: Error) => {
      setError(cause)
      throw cause
    })
    onDone()
    onClose()
  }
  return (
    <ActionForm submit={t('save')} onSubmit={submit} onCancel={onClose}>
      <TextInput
        label={t('name')}
        required
        data-autofocus
        value={draft.name}
        error={wrong('name', draft.name)}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Lines
        label={t('protocols')}
        hint={t('protocols_hint')}
        value={draft.protocols}
        onChange={(protocols) => change({ protocols })}
      />
      {kind === undefined ? (
        <Lines
          label={t('keys')}
          hint={t(channel === undefined ? 'keys_once' : 'keys_hint')}
          value={draft.keys}
          onChange={(keys) => change({ keys })}
        />
      ) : (
        <CloudFields
          {...{ kind, draft: draft.cloud, error, hasAccount: channel !== undefined }}
          onChange={(cloud) => change({ cloud })}
        />
      )}
      <Lines
        label={t('models')}
        hint={t('models_hint')}
        value={draft.models}
        onChange={(models) => change({ models })}
      />
      <Group grow>
        {(['priority', 'weight', 'max_concurrency'] as const).map((each) => (
          <NumberInput
            key={each}
            label={t(each)}
            value={draft[each]}
            onChange={(value) => change({ [each]: Number(value) })}
          />
        ))}
      </Group>
      <PolicyFields draft={draft.policy} onChange={(policy) => change({ policy })} />
    </ActionForm>
  )
}

const cloudKindOf = (channel: Channel | undefined): CloudKind | undefined =>
  (['aws', 'google', 'azure'] as const).find((kind) => channel?.auth?.[kind] !== undefined)

const regionOf = (channel: Channel | undefined): string => channel?.auth?.['aws']?.region ?? ''

const cloudOf = (channel: Channel | undefined): CloudDraft => ({
  ...emptyCloud,
  values: { region: regionOf(channel), location: channel?.vertex?.location ?? '' },
})

/** A new account, or the same one at another location. */
function accountBody(kind: CloudKind, draft: CloudDraft, from: Channel, isNew: boolean): object {
  const { region = '', location = '', ...typed } = draft.values
  const isTyped =
    draft.mode === 'machine' || Object.values(typed).some((text) => text.trim() !== '')
  if (isNew || isTyped || (kind === 'aws' && region !== regionOf(from))) {
    return cloudBody(kind, draft)
  }
  const isMoved = kind === 'google' && location !== '' && location !== from.vertex?.location
  return isMoved ? { vertex: { location } } : {}
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
