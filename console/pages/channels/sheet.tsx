// One channel: its settings, its health key by key, a test, a drain, its end.
import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { Link } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { CopyId } from '../../parts/copy.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { pageWords } from '../index.ts'
import { type Channel, linesOf } from './channel.ts'
import { DiscoverDialog } from './discover.tsx'
import { ChannelForm } from './form.tsx'
import { HealthPill } from './health-pill.tsx'
import { NewKeys } from './new-keys.tsx'
import { TestCell, type Tests } from './tests.tsx'
import { words } from './words.ts'
import { channelsYaml, saveText } from './yaml.ts'

export function ChannelSheet({
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
  const say = useWords(words)
  const shared = useWords(common)
  const page = useWords(pageWords)
  const [doing, setDoing] = useState<'edit' | 'clone' | 'delete' | 'discover' | 'keys'>()
  const [model, setModel] = useState<string | null>(null)
  const { error, run } = useAction()
  if (channel === undefined) return null
  const isOurs = channel.source === 'api'
  const drain = () =>
    run(async () => {
      await ask('PATCH', `/channels/${channel.id}`, { body: { disabled: !channel.disabled } })
      onChanged()
    })
  const { health } = channel
  return (
    <Sheet
      title={channel.name}
      isOpen
      onClose={onClose}
      actions={
        <>
          {isOurs && <Button onClick={() => setDoing('edit')}>{say('edit')}</Button>}
          <Button variant="default" onClick={() => setDoing('discover')}>
            {say('discover')}
          </Button>
          {isOurs && (
            <Button variant="default" onClick={() => setDoing('keys')}>
              {say('new_keys')}
            </Button>
          )}
          {isOurs && (
            <Button variant="default" onClick={drain} title={say('drain_hint')}>
              {say(channel.disabled ? 'resume' : 'drain')}
            </Button>
          )}
          {channel.source !== 'builtin' && (
            <Button variant="default" onClick={() => setDoing('clone')}>
              {say('clone')}
            </Button>
          )}
          <Button
            variant="default"
            onClick={() => saveText(`${channel.name}.yaml`, channelsYaml([channel]))}
          >
            {say('export')}
          </Button>
          {isOurs && (
            <Button color="red" variant="light" onClick={() => setDoing('delete')}>
              {shared('delete')}
            </Button>
          )}
        </>
      }
    >
      <Stack>
        <ErrorNote error={error} />
        {!isOurs && (
          <Text size="sm" c="dimmed">
            {say(channel.source === 'file' ? 'from_file' : 'builtin')}
          </Text>
        )}
        <Group align="flex-end" gap="xs">
          <Select
            size="xs"
            label={say('test_model')}
            placeholder={say('any_model')}
            data={Object.keys(channel.models).filter((name) => !name.endsWith('*'))}
            value={model}
            clearable
            searchable
            onChange={setModel}
          />
          <TestCell channel={channel} tests={tests} model={model ?? undefined} />
        </Group>
        <Facts
          rows={[
            ['ID', <CopyId key="id" id={channel.id} />],
            [say('health'), <HealthPill key="h" channel={channel} />],
            [say('failures'), health.failures_in_row],
            [say('retry'), health.retry_at && <Time at={health.retry_at} />],
            [say('keys'), health.keys.map((key, i) => `${i + 1}: ${say(key)}`).join(', ')],
            [say('denied'), health.denied_models.join(', ')],
            [say('busy'), `${health.busy} / ${channel.max_concurrency}`],
            [say('region'), channel.region],
            [say('protocols'), <Lines key="p" text={linesOf(channel.protocols)} />],
            [say('models'), <Lines key="m" text={linesOf(channel.models)} />],
            [say('priority'), channel.priority],
            [say('weight'), channel.weight],
            [say('timeouts'), <Lines key="t" text={linesOf(channel.timeouts)} />],
            [say('source'), channel.source],
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
      <NewKeys
        channel={channel}
        isOpen={doing === 'keys'}
        onClose={() => setDoing(undefined)}
        onDone={onChanged}
      />
      <ConfirmByName
        name={channel.name}
        title={shared('delete')}
        text={say('delete_text')}
        action={shared('delete')}
        isOpen={doing === 'delete'}
        onClose={() => setDoing(undefined)}
        onConfirm={async () => {
          await ask('DELETE', `/channels/${channel.id}`)
          onChanged()
          onClose()
        }}
      />
    </Sheet>
  )
}

const Lines = ({ text }: { text: string }) => (
  <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
    {text}
  </Text>
)
