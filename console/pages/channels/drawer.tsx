// One channel: its settings, its health key by key, a test, and the actions on it.

import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { LastErrors } from '../../components/channels/channel-errors.tsx'
import { ChannelHealth } from '../../components/channels/channel-health.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { downloadText } from '../../lib/download.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { dataText } from '../../lib/resources/data-terms.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { pageTitles } from '../../navigation.ts'
import { DiscoverDialog } from './discover.tsx'
import { ChannelForm } from './form.tsx'
import { HealthChart } from './health-chart.tsx'
import { messages } from './messages.ts'
import { SentPreview } from './outgoing.tsx'
import { ReplaceKeys } from './replace-keys.tsx'
import { hasFailed, TestCell, type Tests } from './tests.tsx'
import { channelsYaml } from './yaml.ts'

interface Props {
  channel: Channel | undefined
  tests: Tests
  onClose: () => void
  onChanged: () => void
}

export function ChannelDrawer({ channel, ...rest }: Props) {
  return channel === undefined ? null : <OpenChannel channel={channel} {...rest} />
}

type Dialog = 'edit' | 'clone' | 'delete' | 'discover' | 'keys'

function OpenChannel({ channel, tests, onClose, onChanged }: Props & { channel: Channel }) {
  const t = useMessages(messages)
  const page = useMessages(pageTitles)
  const [dialog, setDialog] = useState<Dialog>()
  const { error, run } = useAction()
  const drain = () =>
    run(async () => {
      const set = async (disabled: boolean) => {
        await api('PATCH', `/channels/${channel.id}`, { body: { disabled } })
        onChanged()
      }
      await set(!channel.disabled)
      const said = t(channel.disabled ? 'resumed_many' : 'drained_many', { n: 1 })
      offerUndo(said, () => set(channel.disabled))
    })
  const dialogProps = (name: Dialog) => ({
    isOpen: dialog === name,
    onClose: () => setDialog(undefined),
    onDone: onChanged,
  })
  return (
    <DetailsDrawer
      title={channel.name}
      isOpen
      onClose={onClose}
      actions={<Actions channel={channel} onDrain={drain} onOpen={setDialog} />}
    >
      <Stack>
        <ErrorAlert error={error} />
        {channel.source !== 'api' && (
          <Text size="sm" c="dimmed">
            {t(channel.source === 'file' ? 'from_file' : 'builtin')}
          </Text>
        )}
        <TestRow channel={channel} tests={tests} />
        {/* Why calls fail comes before what is set. */}
        <LastErrors channel={channel.name} />
        <ChannelProperties channel={channel} hasFailedTest={hasFailed(tests, channel)} />
        <HealthChart channel={channel.name} />
        <Link to={`/requests?channel=${encodeURIComponent(channel.name)}`}>{page('requests')}</Link>
      </Stack>
      <ChannelForm channel={channel} {...dialogProps('edit')} />
      <ChannelForm copyOf={channel} {...dialogProps('clone')} />
      <DiscoverDialog channel={channel} {...dialogProps('discover')} />
      <ReplaceKeys channel={channel} {...dialogProps('keys')} />
      <Confirm
        typed={channel.name}
        isFinal
        title={t('delete_channel')}
        text={t('delete_text')}
        action={t('delete_channel')}
        keep={t('keep_channel')}
        {...dialogProps('delete')}
        onConfirm={async () => {
          await api('DELETE', `/channels/${channel.id}`)
          onChanged()
          onClose()
        }}
      />
    </DetailsDrawer>
  )
}

function Actions({
  channel,
  onDrain,
  onOpen,
}: {
  channel: Channel
  onDrain: () => void
  onOpen: (dialog: Dialog) => void
}) {
  const t = useMessages(messages)
  const isEditable = channel.source === 'api'
  const opens = (dialog: Dialog, label: string) => (
    <Button variant="default" onClick={() => onOpen(dialog)}>
      {label}
    </Button>
  )
  return (
    <>
      {isEditable && <Button onClick={() => onOpen('edit')}>{t('edit')}</Button>}
      {opens('discover', t('discover'))}
      {isEditable && channel.auth === null && opens('keys', t('new_keys'))}
      {isEditable && (
        <Button variant="default" onClick={onDrain} title={t('drain_hint')}>
          {t(channel.disabled ? 'resume' : 'drain')}
        </Button>
      )}
      {channel.source !== 'builtin' && opens('clone', t('clone'))}
      <Button
        variant="default"
        onClick={() => downloadText(`${channel.name}.yaml`, channelsYaml([channel]))}
      >
        {t('export')}
      </Button>
      {isEditable && (
        <Button color="red" variant="light" onClick={() => onOpen('delete')}>
          {t('delete')}
        </Button>
      )}
    </>
  )
}

function TestRow({ channel, tests }: { channel: Channel; tests: Tests }) {
  const t = useMessages(messages)
  const [model, setModel] = useState<string | null>(null)
  return (
    <Group align="flex-end" gap="xs">
      <Select
        size="xs"
        label={t('test_model')}
        placeholder={t('any_model')}
        data={Object.keys(channel.models).filter((name) => !name.endsWith('*'))}
        value={model}
        clearable
        searchable
        onChange={setModel}
      />
      <div style={{ paddingBottom: 4 }}>
        <TestCell channel={channel} tests={tests} model={model ?? undefined} />
      </div>
    </Group>
  )
}

function ChannelProperties({
  channel,
  hasFailedTest,
}: {
  channel: Channel
  hasFailedTest: boolean
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const { health } = channel
  return (
    <PropertyList
      rows={[
        ['ID', <CopyId key="id" id={channel.id} />],
        [t('health'), <ChannelHealth key="h" channel={channel} hasFailedTest={hasFailedTest} />],
        [t('failures'), health.failures_in_row],
        [t('retry'), health.retry_at && <Time at={health.retry_at} />],
        [
          t('keys'),
          health.keys.map((key, i) => `${i + 1}: ${server.text('channel_health', key)}`).join(', '),
        ],
        [t('denied'), health.denied_models.join(', ')],
        [t('busy'), `${health.busy} / ${channel.max_concurrency}`],
        [t('region'), channel.region],
        [t('protocols'), <Lines key="p" text={listed(channel.protocols)} />],
        [t('sends'), <SentPreview key="o" channel={channel} />],
        [t('models'), <Lines key="m" text={modelLines(channel.models)} />],
        [t('cloud'), cloudText(channel)],
        [t('data_terms'), channel.data === null ? t('not_stated') : dataText(channel.data)],
        [t('priority'), channel.priority],
        [t('weight'), channel.weight],
        [t('timeouts'), <Lines key="t" text={timeoutLines(channel.timeouts, format.span)} />],
        [t('source'), server.text('source', channel.source)],
      ]}
    />
  )
}

type Pairs = Readonly<Record<string, string>>

const listed = (pairs: Pairs): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** `*` is the same name at the upstream. */
const modelLines = (models: Pairs): string =>
  Object.entries(models)
    .map(([name, upstream]) => (upstream === '*' ? name : `${name} → ${upstream}`))
    .join('\n')

const msOf = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const

/** As they are declared, in words: `first_byte` of `120000ms` is two minutes. */
function timeoutLines(timeouts: Pairs, span: (ms: number) => string): string {
  const spanOf = (value: string) => {
    const [, digits, unit = 'ms'] = /^(\d+)(ms|s|m|h)$/.exec(value) ?? []
    return digits === undefined ? value : span(Number(digits) * msOf[unit as keyof typeof msOf])
  }
  return Object.entries(timeouts)
    .map(([name, value]) => `${name.replace('_', ' ')}: ${spanOf(value)}`)
    .join('\n')
}

/** Where the account belongs; nothing else of it is known here. */
const cloudText = ({ auth, vertex }: Channel): string =>
  Object.entries(auth ?? {})
    .map(([kind, { region }]) => [kind, region ?? vertex?.location].filter(Boolean).join(', '))
    .join()

const Lines = ({ text }: { text: string }) => (
  <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
    {text}
  </Text>
)
