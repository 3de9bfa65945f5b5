// One channel: its settings, its health key by key, a test, a drain, its end.

import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ChannelHealth } from '../../components/channel-health.tsx'
import { ConfirmByName } from '../../components/confirm.tsx'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Channel, linesOf } from '../../lib/resources/channel.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { pageTitles } from '../../navigation.ts'
import { DiscoverDialog } from './discover.tsx'
import { ChannelForm } from './form.tsx'
import { messages } from './messages.ts'
import { ReplaceKeys } from './replace-keys.tsx'
import { TestCell, type Tests } from './tests.tsx'
import { channelsYaml, saveText } from './yaml.ts'

export function ChannelDrawer({
  channel,
  tests,
  onClose,
  onChanged,
}: {
  channel: Channel | undefined
  tests: Tests
  onClose: () => void
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const page = useMessages(pageTitles)
  const server = useServerText()
  const [doing, setDoing] = useState<'edit' | 'clone' | 'delete' | 'discover' | 'keys'>()
  const [model, setModel] = useState<string | null>(null)
  const { error, run } = useAction()
  if (channel === undefined) return null
  const isEditable = channel.source === 'api'
  const drain = () =>
    run(async () => {
      await api('PATCH', `/channels/${channel.id}`, { body: { disabled: !channel.disabled } })
      onChanged()
    })
  const { health } = channel
  return (
    <DetailsDrawer
      title={channel.name}
      isOpen
      onClose={onClose}
      actions={
        <>
          {isEditable && <Button onClick={() => setDoing('edit')}>{t('edit')}</Button>}
          <Button variant="default" onClick={() => setDoing('discover')}>
            {t('discover')}
          </Button>
          {isEditable && (
            <Button variant="default" onClick={() => setDoing('keys')}>
              {t('new_keys')}
            </Button>
          )}
          {isEditable && (
            <Button variant="default" onClick={drain} title={t('drain_hint')}>
              {t(channel.disabled ? 'resume' : 'drain')}
            </Button>
          )}
          {channel.source !== 'builtin' && (
            <Button variant="default" onClick={() => setDoing('clone')}>
              {t('clone')}
            </Button>
          )}
          <Button
            variant="default"
            onClick={() => saveText(`${channel.name}.yaml`, channelsYaml([channel]))}
          >
            {t('export')}
          </Button>
          {isEditable && (
            <Button color="red" variant="light" onClick={() => setDoing('delete')}>
              {t('delete')}
            </Button>
          )}
        </>
      }
    >
      <Stack>
        <ErrorAlert error={error} />
        {!isEditable && (
          <Text size="sm" c="dimmed">
            {t(channel.source === 'file' ? 'from_file' : 'builtin')}
          </Text>
        )}
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
          <TestCell channel={channel} tests={tests} model={model ?? undefined} />
        </Group>
        <PropertyList
          rows={[
            ['ID', <CopyId key="id" id={channel.id} />],
            [t('health'), <ChannelHealth key="h" channel={channel} />],
            [t('failures'), health.failures_in_row],
            [t('retry'), health.retry_at && <Time at={health.retry_at} />],
            [t('keys'), health.keys.map((key, i) => `${i + 1}: ${t(key)}`).join(', ')],
            [t('denied'), health.denied_models.join(', ')],
            [t('busy'), `${health.busy} / ${channel.max_concurrency}`],
            [t('region'), channel.region],
            [t('protocols'), <Lines key="p" text={linesOf(channel.protocols)} />],
            [t('models'), <Lines key="m" text={linesOf(channel.models)} />],
            [t('priority'), channel.priority],
            [t('weight'), channel.weight],
            [t('timeouts'), <Lines key="t" text={linesOf(channel.timeouts)} />],
            [t('source'), server.text('source', channel.source)],
          ]}
        />
        <Link to={`/requests?channel=${encodeURIComponent(channel.name)}`}>{page('requests')}</Link>
      </Stack>
      <ChannelForm
        channel={channel}
        isOpen={doing === 'edit'}
        onClose={() => setDoing(undefined)}
        onDone={onChanged}
      />
      <ChannelForm
        copyOf={channel}
        isOpen={doing === 'clone'}
        onClose={() => setDoing(undefined)}
        onDone={onChanged}
      />
      <DiscoverDialog
        channel={channel}
        isOpen={doing === 'discover'}
        onClose={() => setDoing(undefined)}
        onDone={onChanged}
      />
      <ReplaceKeys
        channel={channel}
        isOpen={doing === 'keys'}
        onClose={() => setDoing(undefined)}
        onDone={onChanged}
      />
      <ConfirmByName
        name={channel.name}
        title={t('delete')}
        text={t('delete_text')}
        action={t('delete')}
        isOpen={doing === 'delete'}
        onClose={() => setDoing(undefined)}
        onConfirm={async () => {
          await api('DELETE', `/channels/${channel.id}`)
          onChanged()
          onClose()
        }}
      />
    </DetailsDrawer>
  )
}

const Lines = ({ text }: { text: string }) => (
  <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
    {text}
  </Text>
)
