// Models that the upstream of a channel has: one is taken into the form, or all that fit a filter at once.
import { Alert, Badge, Button, Group, Loader, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChannelDiscovery } from '../../../src/admin/catalog/channel-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { canServe, plainName } from './catalog.ts'
import { messages } from './messages.ts'
import type { Begun } from './model-form.tsx'

type Found = ChannelDiscovery['models'][number]

export function Discovery({
  channels,
  onChosen,
  onAdded,
}: {
  channels: readonly Channel[]
  onChosen: (begun: Begun) => void
  onAdded: () => void
}) {
  const t = useMessages(messages)
  const [name, setName] = useState<string | null>(null)
  const channel = channels.find((each) => each.name === name)
  const { data, error, isFetching } = useQuery({
    queryKey: ['discover', channel?.id],
    queryFn: () => api<ChannelDiscovery>('POST', `/channels/${channel!.id}/discover`),
    enabled: channel !== undefined,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  })
  return (
    <Stack>
      <Select
        label={t('channel')}
        placeholder={t('choose_channel')}
        data={channels.map((each) => each.name)}
        value={name}
        onChange={setName}
      />
      {isFetching && (
        <Group role="status">
          <Loader size="sm" />
          <Text size="sm">{t('asking')}</Text>
        </Group>
      )}
      <ErrorAlert error={error} />
      {data?.ok === false && <NotListed error={data.error ?? ''} />}
      {data?.ok === true && channel !== undefined && !isFetching && (
        <FoundModels
          key={channel.id}
          channel={channel}
          models={data.models}
          onChosen={onChosen}
          onAdded={onAdded}
        />
      )}
    </Stack>
  )
}

function NotListed({ error }: { error: string }) {
  const t = useMessages(messages)
  const server = useServerText()
  return (
    <Alert color="orange" title={t('ask_failed')}>
      {server.sentence(error)}
    </Alert>
  )
}

/** Rows that are drawn; the filter finds the others. */
const maxRows = 100

function FoundModels({
  channel,
  models,
  onChosen,
  onAdded,
}: {
  channel: Channel
  models: readonly Found[]
  onChosen: (begun: Begun) => void
  onAdded: () => void
}) {
  const t = useMessages(messages)
  const [filter, setFilter] = useState('')
  const { error, isBusy, run } = useAction()
  const [done, setDone] = useState<ChannelDiscovery>()
  const shown = models.filter(({ upstream_model: name }) => name.includes(filter.trim()))
  const fresh = shown.filter(isNew)
  const addAll = () =>
    run(async () => {
      const only = filter.trim() === '' ? {} : { only: `*${filter.trim()}*` }
      const body = { add: true, ...only }
      setDone(await api<ChannelDiscovery>('POST', `/channels/${channel.id}/discover`, { body }))
      onAdded()
    })
  return (
    <Stack>
      <Group align="flex-end">
        <TextInput
          label={t('narrow')}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        {canServe(channel) && fresh.length > 1 && (
          <Button variant="default" loading={isBusy} onClick={() => void addAll()}>
            {t('add_all', { n: fresh.length })}
          </Button>
        )}
      </Group>
      <ErrorAlert error={error} />
      {done !== undefined && <Outcome done={done} />}
      <SimpleTable
        label={t('found', { channel: channel.name })}
        rows={shown.slice(0, maxRows)}
        rowKey={({ upstream_model }) => upstream_model}
        maxHeight="50vh"
        columns={[
          { title: t('model'), cell: ({ upstream_model }) => upstream_model },
          { title: t('name'), cell: ({ names }) => names.join(', ') || '–' },
          {
            title: '',
            align: 'right',
            cell: (model) => <ChooseButton model={model} channel={channel} onChosen={onChosen} />,
          },
        ]}
      />
    </Stack>
  )
}

const isNew = ({ kind, names }: Found): boolean => kind === null || names.length === 0

function ChooseButton({
  model,
  channel,
  onChosen,
}: {
  model: Found
  channel: Channel
  onChosen: (begun: Begun) => void
}) {
  const t = useMessages(messages)
  const { upstream_model: upstreamName } = model
  if (!isNew(model)) {
    return (
      <Badge variant="light" color="gray" radius="sm">
        {t('in_catalog')}
      </Badge>
    )
  }
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`${t('choose')} ${upstreamName}`}
      onClick={() =>
        onChosen({
          name: plainName(upstreamName),
          upstreamName,
          ...(canServe(channel) && { channel }),
        })
      }
    >
      {t('choose')}
    </Button>
  )
}

function Outcome({ done: { added = [], skipped = [] } }: { done: ChannelDiscovery }) {
  const t = useMessages(messages)
  const reasons = skipped.slice(0, 10).map((each) => `${each.upstream_model}: ${each.reason}`)
  return (
    <Alert color="teal" role="status">
      {t('added', { n: added.length })}
      {skipped.length > 0 && (
        <Text size="sm">
          {t('skipped', { n: skipped.length })} {reasons.join('; ')}
        </Text>
      )}
    </Alert>
  )
}
