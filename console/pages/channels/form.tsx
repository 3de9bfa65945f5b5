// The form of a channel: edit or clone. Keys are write-only.
import { Group, Modal, NumberInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import type { Translate } from '../../lib/i18n.ts'
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

const draftOf = (from: Channel | undefined, name: string) => ({
  ...{ name, keys: '' },
  protocols: linesOf(from?.protocols ?? {}),
  models: linesOf(from?.models ?? {}),
  priority: from?.priority ?? 0,
  weight: from?.weight ?? 1,
  max_concurrency: from?.max_concurrency ?? 200,
  policy: policyOf(from),
  cloud: cloudOf(from),
})
type ChannelDraft = ReturnType<typeof draftOf>

/** As the admin API takes it; what was typed wrong is thrown. */
function bodyFrom(
  { name, keys, protocols, models, policy, cloud, ...numbers }: ChannelDraft,
  { channel, copyOf }: Props,
  t: Translate<keyof typeof messages>,
): object {
  const read = { protocols: pairsOf(protocols), models: pairsOf(models) }
  for (const pairs of Object.values(read)) {
    if (typeof pairs === 'number') throw new Error(t('bad_line', { n: pairs }))
  }
  const given = keysIn(keys)
  const isNew = channel === undefined
  const from = channel ?? copyOf
  const kind = cloudKindOf(from)
  const terms = policyBody(policy, isNew)
  if (terms === undefined) throw new Error(t('bad_json'))
  return {
    ...{ name, ...read, ...numbers, ...terms },
    ...(given.length > 0 && { keys: given }),
    ...(kind !== undefined && accountBody(kind, cloud, from!, isNew)),
  }
}

/** What was typed, and the call that saves it. */
function useChannelDraft(props: Props) {
  const { channel, copyOf } = props
  const t = useMessages(messages)
  const from = channel ?? copyOf
  const [before] = useState(() =>
    draftOf(from, channel?.name ?? (copyOf && `${copyOf.name}-2`) ?? ''),
  )
  const [draft, setDraft] = useState(before)
  const save = async () => {
    const body = bodyFrom(draft, props, t)
    if (channel !== undefined) {
      const set = (to: object) => api('PATCH', `/channels/${channel.id}`, { body: to })
      await set(body)
      // Secrets that were replaced are not known here.
      const hasSecret = 'keys' in body || 'auth' in body
      const back = hasSecret ? undefined : () => set(bodyFrom(before, props, t))
      return offerUndo(t('saved_as', { name: channel.name }), back)
    }
    // A copy begins drained: it was not tried yet.
    const timeouts = copyOf === undefined ? {} : { timeouts: copyOf.timeouts }
    await api('POST', '/channels', { body: { ...body, ...timeouts, disabled: true } })
  }
  const change = (part: Partial<ChannelDraft>) => setDraft({ ...draft, ...part })
  return { draft, change, save, kind: cloudKindOf(from) }
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
