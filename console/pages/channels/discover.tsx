// The models of the upstream compared with those of the channel: new ones to add, gone ones to remove,
// and what a new one needs before it can be called.

import {
  Alert,
  Checkbox,
  Code,
  Group,
  Loader,
  Modal,
  SimpleGrid,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChannelDiscovery as Discovery } from '../../../src/admin/catalog/channel-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { ErrorAlert, SectionTitle } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { api } from '../../lib/api.ts'
import type { Translate } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { Link } from '../../lib/router.tsx'
import { type ServerText, useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

type Found = Discovery['models'][number]

interface Props {
  channel: Channel
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}

export function DiscoverDialog(props: Props) {
  const t = useMessages(messages)
  const { isOpen, onClose } = props
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('discover')} size="xl">
      {isOpen && <Discovered {...props} />}
    </Modal>
  )
}

function Discovered(props: Props) {
  const t = useMessages(messages)
  const server = useServerText()
  const { id } = props.channel
  const { data, error, isFetching } = useQuery({
    queryKey: ['discover', id],
    queryFn: () => api<Discovery>('POST', `/channels/${id}/discover`),
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  if (isFetching && data === undefined) {
    return (
      <Group role="status">
        <Loader size="sm" />
        <Text size="sm">{t('discovering')}</Text>
      </Group>
    )
  }
  if (data === undefined) return <ErrorAlert error={error} />
  if (!data.ok) {
    return (
      <Alert color="orange" title={t('discover_failed')}>
        {server.sentence(data.error ?? '')}
      </Alert>
    )
  }
  return <Models {...props} found={data} />
}

/** From this number on there is a search field. */
const manyModels = 12

function Models({ channel, found, onClose, onDone }: Props & { found: Discovery }) {
  const t = useMessages(messages)
  const [chosen, setChosen] = useState<string[]>([])
  const [dropped, setDropped] = useState<string[]>([])
  const isEditable = channel.source === 'api'
  const fresh = found.models.filter(({ names }) => names.length === 0)
  const remaining = Object.entries(channel.models).filter(([name]) => !dropped.includes(name))
  const models = Object.fromEntries([...remaining, ...chosen.map((name) => [name, '*'])])
  const changes = chosen.length + dropped.length
  const submit = async () => {
    if (changes > 0) {
      const set = (to: Channel['models']) =>
        api('PATCH', `/channels/${channel.id}`, { body: { models: to } })
      await set(models)
      offerUndo(t('saved_as', { name: channel.name }), () => set(channel.models))
      onDone()
    }
    onClose()
  }
  return (
    <ActionForm
      submit={
        changes === 0 ? t('close') : t('apply_models', { n: chosen.length, m: dropped.length })
      }
      onSubmit={submit}
    >
      {!isEditable && <Alert color="gray">{t('discover_read_only')}</Alert>}
      <NewModels models={fresh} isOff={!isEditable} chosen={chosen} onChange={setChosen} />
      <Lacks models={fresh.filter(({ upstream_model: name }) => chosen.includes(name))} />
      {found.gone.length > 0 && (
        <div>
          <SectionTitle>{t('gone_models', { n: found.gone.length })}</SectionTitle>
          <Ticks
            label={t('gone_models_hint')}
            isOff={!isEditable}
            value={dropped}
            onChange={setDropped}
            rows={found.gone.map(({ name, upstream_model }) => [name, `→ ${upstream_model}`])}
          />
        </div>
      )}
      <MappedModels models={found.models.filter(({ names }) => names.length > 0)} />
    </ActionForm>
  )
}

function NewModels({
  models,
  isOff,
  chosen,
  onChange,
}: {
  models: readonly Found[]
  isOff: boolean
  chosen: string[]
  onChange: (chosen: string[]) => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const [wanted, setWanted] = useState('')
  const shown = models.filter(
    ({ upstream_model: name }) => name.includes(wanted.trim()) || chosen.includes(name),
  )
  return (
    <div>
      <SectionTitle>{t('new_models', { n: models.length })}</SectionTitle>
      {models.length > manyModels && (
        <TextInput
          size="xs"
          mb="xs"
          aria-label={t('narrow')}
          placeholder={t('narrow')}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <Ticks
        label={t('new_models_hint')}
        isOff={isOff}
        value={chosen}
        onChange={onChange}
        rows={shown.map((model) => [model.upstream_model, lackOf(model, t, server)])}
      />
    </div>
  )
}

function MappedModels({ models }: { models: readonly Found[] }) {
  const t = useMessages(messages)
  return (
    <div>
      <SectionTitle>{t('mapped_models', { n: models.length })}</SectionTitle>
      <Group gap={4}>
        {models.map(({ upstream_model: name, names }) => (
          <Code key={name}>{names.includes(name) ? name : `${names.join(', ')} → ${name}`}</Code>
        ))}
      </Group>
    </div>
  )
}

const lackOf = (
  { kind, priced }: Found,
  t: Translate<keyof typeof messages>,
  server: ServerText,
): string => {
  if (kind === null) return t('not_in_catalog')
  const word = server.text('model', kind)
  return priced ? word : `${word} · ${t('no_price')}`
}

function Ticks({
  label,
  rows,
  value,
  onChange,
  isOff,
}: {
  label: string
  rows: readonly (readonly [name: string, hint: string])[]
  value: string[]
  onChange: (value: string[]) => void
  isOff: boolean
}) {
  if (rows.length === 0) return null
  return (
    <Checkbox.Group label={label} labelProps={{ fw: 400 }} value={value} onChange={onChange}>
      <SimpleGrid
        cols={{ base: 1, sm: 2 }}
        mt="xs"
        mah={320}
        style={{ overflowY: 'auto' }}
        tabIndex={0}
      >
        {rows.map(([name, hint]) => (
          <Checkbox key={name} value={name} label={name} description={hint} disabled={isOff} />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

/** Chosen models that cannot be called yet. */
function Lacks({ models }: { models: readonly Found[] }) {
  const t = useMessages(messages)
  const unknown = models.filter(({ kind }) => kind === null)
  const unpriced = models.filter(({ kind, priced }) => kind !== null && !priced)
  return (
    <>
      {unpriced.length > 0 && (
        <Alert color="orange" title={t('prices_missing')}>
          <Group gap="sm">
            {unpriced.map(({ upstream_model: name }) => (
              <Link key={name} to={`/prices?missing=1&open=${encodeURIComponent(name)}&new=1`}>
                {name}
              </Link>
            ))}
          </Group>
        </Alert>
      )}
      {unknown.length > 0 && (
        <Alert color="orange" title={t('catalog_missing')}>
          {unknown.map(({ upstream_model: name }) => name).join(', ')}
        </Alert>
      )}
    </>
  )
}
